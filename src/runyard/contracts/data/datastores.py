"""Datastores: the kinds of named places for data, what each kind is made of, and which parts of that are secret.

On the wire a datastore is `{"name", "kind", "settings": {...}, "secrets": [names of those that it has], "default"}`.
The values of secrets go to the server when a datastore is registered, and never come back.
"""

from __future__ import annotations

import os
import posixpath
import re
from dataclasses import dataclass
from typing import Any, Mapping
from urllib.parse import urlsplit

from runyard.contracts.secrets import mask

FOLDER, SHARED_FOLDER, WEB = "folder", "shared_folder", "web"
S3, GCS, AZURE_BLOB, GEN2, AZURE_FILE = "s3", "gcs", "azure_blob", "azure_data_lake_gen2", "azure_file"
GEN1, SQL, POSTGRES, MYSQL = "azure_data_lake", "azure_sql_database", "azure_postgre_sql", "azure_my_sql"
DBFS, HDFS = "dbfs", "hdfs"
SQLITE = "sqlite"
DATABASES = (SQLITE, SQL, POSTGRES, MYSQL)
"""Kinds that rows are read from, by `Dataset.Tabular.from_sql_query`."""

BLOB_STORE, FILE_STORE = "workspaceblobstore", "workspacefilestore"
OWN = (BLOB_STORE, FILE_STORE)
"""The datastores that every workspace has from the start: folders in the home of the server."""

PART = re.compile(r"\.[^/]{1,255}\.runyard-part")
"""The name of a file that is still being written: it is not part of its datastore."""


@dataclass(frozen=True)
class Kind:
    """What a datastore of a kind is made of; `one_of` are alternatives of which one is needed."""

    says: str
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    files: bool = True  # whether its files can be read; else it is only remembered


_AZURE = ("endpoint", "protocol", "subscription_id", "resource_group", "prefix")
_PRINCIPAL = ("tenant_id", "client_id", "authority_url", "resource_url")
_SQL = ("endpoint", "port_number", *_PRINCIPAL, "subscription_id", "resource_group")

KINDS: Mapping[str, Kind] = {
    FOLDER: Kind("a folder of the server's machine", ("path",)),
    SHARED_FOLDER: Kind("a folder that the server and all nodes see at the same path", ("path",)),
    WEB: Kind("a web address; its files are named one by one", ("url",)),
    S3: Kind(
        "S3, and whatever speaks its protocol",
        ("bucket",),
        ("region", "endpoint", "prefix", "access_key_id", "virtual_hosted_style", "anonymous"),
        ("secret_access_key", "session_token"),
    ),
    GCS: Kind("Google Cloud Storage", ("bucket",), ("prefix", "anonymous"), ("service_account_key",)),
    AZURE_BLOB: Kind(
        "Azure Blob Storage",
        ("account_name", "container_name"),
        (*_AZURE, *_PRINCIPAL),
        ("account_key", "sas_token", "client_secret"),
    ),
    GEN2: Kind(
        "Azure Data Lake Storage Gen2",
        ("account_name", "container_name"),
        (*_AZURE, *_PRINCIPAL),
        ("account_key", "sas_token", "client_secret"),
    ),
    AZURE_FILE: Kind(
        "a file share of Azure; its files are read where the share is mounted (path)",
        ("account_name", "container_name"),
        (*_AZURE, "path"),
        ("account_key", "sas_token"),
    ),
    GEN1: Kind(
        "Azure Data Lake Storage Gen1",
        ("store_name",),
        (*_PRINCIPAL, "subscription_id", "resource_group"),
        ("client_secret",),
        files=False,
    ),
    SQL: Kind(
        "Azure SQL Database",
        ("server_name", "database_name"),
        (*_SQL, "username"),
        ("password", "client_secret"),
        files=False,
    ),
    POSTGRES: Kind(
        "PostgreSQL", ("server_name", "database_name"), (*_SQL, "user_id", "enforce_ssl"), ("password",), files=False
    ),
    MYSQL: Kind("MySQL", ("server_name", "database_name"), (*_SQL, "user_id"), ("password",), files=False),
    SQLITE: Kind("a file of SQLite, on a disk that all who read it see", ("path",), files=False),
    DBFS: Kind("the file system of Databricks", files=False),
    HDFS: Kind(
        "HDFS",
        ("namenode_address",),
        ("protocol", "hdfs_server_certificate", "kerberos_realm", "kerberos_kdc_address", "kerberos_principal"),
        ("kerberos_keytab", "kerberos_password"),
        files=False,
    ),
}

LONGEST = 4_096
_NAME = re.compile(r"[a-z0-9_][a-z0-9_-]{0,254}", re.ASCII)
_PLAIN = re.compile(r"[\w.$-]{1,255}", re.ASCII)
_NAMED = ("bucket", "account_name", "container_name", "store_name")


class BadDatastore(ValueError):
    """What is wrong with a datastore; `help` is what to do."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(f"{message} {help}".strip())
        self.message, self.help = message, help


def check_name(name: object) -> str:
    """The name of a datastore as it is known: names are the same whatever their case.

    >>> check_name("MyStore")
    'mystore'
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name.lower()):
        raise BadDatastore(
            f"{str(name)[:80]!r} is no name for a datastore.", "Use up to 255 letters, digits, '_' or '-'."
        )
    return name.lower()


def check(kind: object, settings: Mapping[str, Any], secrets: Mapping[str, Any]) -> dict[str, str]:
    """The settings of a datastore as they are stored; BadDatastore says what is wrong. No secret is repeated."""
    known = KINDS.get(kind) if isinstance(kind, str) else None
    if known is None:
        raise BadDatastore(f"{str(kind)[:40]!r} is no kind of a datastore.", f"There is: {', '.join(KINDS)}.")
    given = {key: str(value) for key, value in settings.items() if value is not None and str(value) != ""}
    allowed = (*known.needs, *known.takes)
    for key in given:
        if key in known.secret:
            raise BadDatastore(f"{key} is a secret, and belongs among the secrets.")
        if key not in allowed:
            raise BadDatastore(f"A datastore of the kind {kind} has no {key[:40]!r}.", f"It has: {', '.join(allowed)}.")
    for key in secrets:
        if key not in known.secret:
            takes = f"It has: {', '.join(known.secret)}." if known.secret else "It has none."
            raise BadDatastore(f"A datastore of the kind {kind} has no secret {key[:40]!r}.", takes)
        if not isinstance(secrets[key], str) or not secrets[key] or len(secrets[key]) > 100_000:
            raise BadDatastore(f"The secret {key} is not a text, or is empty.")
    for key in known.needs:
        if key not in given:
            raise BadDatastore(f"A datastore of the kind {kind} needs {key}.", f"It is {known.says}.")
    for key, value in given.items():
        _check_value(key, value)
    return dict(sorted(given.items()))


def check_path(path: object) -> str:
    """The path of a file in a datastore, in its normal form: it goes downwards from the root.

    >>> check_path("./mnist//train.gz")
    'mnist/train.gz'
    """
    if not isinstance(path, str) or len(path) > LONGEST or "\0" in path or ".." in path.split("/"):
        raise BadDatastore(
            f"{str(path)[:200]!r} is no path in a datastore.",
            "It goes downwards from the datastore's root, without '..'.",
        )
    normal = "/".join(part for part in path.split("/") if part not in ("", "."))
    if not normal or PART.fullmatch(posixpath.basename(normal)):
        raise BadDatastore(f"{path[:200]!r} names no file in a datastore.")
    return normal


def _check_value(key: str, value: str) -> None:
    if len(value) > LONGEST or "\0" in value or "\n" in value:
        raise BadDatastore(f"The {key} is longer than {LONGEST:,} characters, or has a line break.")
    if mask(value) != value:
        raise BadDatastore(f"The {key} holds a password or a signature.", "Give it as a secret of its own.")
    if key in _NAMED and not _PLAIN.fullmatch(value):
        raise BadDatastore(f"{value[:80]!r} is no {key}.", "It has letters, digits, '-', '.', '_' or '$'.")
    if key == "path" and (not os.path.isabs(value) or ".." in value.split("/")):
        raise BadDatastore(f"{value[:200]!r} is not the whole path of a folder.", "Use one such as /data/mnist.")
    if key == "url" and (urlsplit(value).scheme not in ("http", "https") or not urlsplit(value).hostname):
        raise BadDatastore(f"{value[:200]!r} is no web address.", "Use one such as https://example.org/data.")
    if key == "prefix" and ".." in value.split("/"):
        raise BadDatastore(f"{value[:200]!r} is no prefix of paths.", "Leave out '..'.")
    if key in ("anonymous", "virtual_hosted_style", "enforce_ssl") and value.lower() not in ("true", "false"):
        raise BadDatastore(f"The {key} is true or false, not {value[:20]!r}.")
