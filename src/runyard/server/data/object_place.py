"""The files of a datastore in S3, Google Cloud Storage, Azure Blob Storage or Azure Data Lake Gen2, by obstore.

obstore is loaded when the first such datastore is used. Addresses are signed here, so that clients and nodes need
neither credentials nor obstore.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from runyard.contracts.data import datastores as contract
from runyard.contracts.secrets import mask
from runyard.server.data.places import SIGNED_FOR, Place, Stored
from runyard.server.middleware.problems import Problem

PIECE = 8 << 20
LISTED_AT_ONCE = 1_000
KEPT = 64
"""Stores that are kept open, with their connections."""


def open_object_place(name: str, kind: str, settings: Mapping[str, str], secrets: Mapping[str, str]) -> ObjectPlace:
    """The place of a datastore; the same settings give the same connections."""
    with _said(name, tuple(secrets.values())):
        store = _opened(kind, tuple(sorted(settings.items())), tuple(sorted(secrets.items())))
    signs = bool(secrets) and not (kind in (contract.AZURE_BLOB, contract.GEN2) and "sas_token" in secrets)
    place = ObjectPlace(name, kind, store, signs, tuple(secrets.values()))
    place.root = _root(kind, settings)
    return place


class ObjectPlace(Place):
    root = ""

    def __init__(self, name: str, kind: str, store: Any, signs: bool, secrets: tuple[str, ...]) -> None:
        self._name, self._store, self._signs, self._secrets = name, store, signs, secrets
        self._is_azure = kind in (contract.AZURE_BLOB, contract.GEN2)

    def files(self, below: str = "", after: str | None = None, facts: bool = True) -> Iterator[Stored]:
        import obstore

        with self._said():
            if below and (after is None or below > after):
                single = self.look(below)
                if single is not None:
                    yield single
                    return
            for chunk in obstore.list(self._store, below or None, offset=after, chunk_size=LISTED_AT_ONCE):
                for each in chunk:
                    yield _stored(each)

    def look(self, path: str) -> Stored | None:
        import obstore

        with self._said():
            try:
                return _stored(obstore.head(self._store, path))
            except FileNotFoundError:
                return None

    def read(self, path: str, start: int, end: int) -> Iterator[bytes]:
        import obstore

        if end <= start:
            return
        with self._said():
            answer = obstore.get(self._store, path, options={"range": (start, end)})
            for piece in answer.stream(min_chunk_size=1 << 20):
                yield bytes(piece)

    def take(self, path: str, source: Path) -> None:
        import obstore

        try:
            with self._said():
                obstore.put(self._store, path, source, chunk_size=PIECE, max_concurrency=4)
        finally:
            source.unlink(missing_ok=True)

    def remove(self, path: str) -> None:
        import obstore

        with self._said(), contextlib.suppress(FileNotFoundError):
            obstore.delete(self._store, path)

    def addresses(self, paths: Sequence[str], method: str = "GET") -> list[str | None]:
        import obstore

        if not self._signs or not paths:
            return [None] * len(paths)
        ask: Literal["GET", "PUT"] = "PUT" if method == "PUT" else "GET"
        # obstore 0.12 signs the escaped name for Azure, which compares with the plain one.
        signed = [path for path in paths if not self._is_azure or quote(path) == path]
        with self._said():
            made = obstore.sign(self._store, ask, signed, timedelta(seconds=SIGNED_FOR)) if signed else ()
        found = dict(zip(signed, made, strict=True))
        return [found.get(path) for path in paths]

    def _said(self) -> AbstractContextManager[None]:
        return _said(self._name, self._secrets)

    def known_as(self, path: str) -> str | None:
        return self.root + path

    def headers(self, method: str) -> Mapping[str, str]:
        return {"x-ms-blob-type": "BlockBlob"} if self._is_azure and method == "PUT" else {}


def _stored(found: Mapping[str, Any]) -> Stored:
    etag = found.get("e_tag")
    if etag is not None and not etag.endswith('"'):
        etag = f'"{etag}"'  # as it is in answers: Azure's listings leave the quotes out
    modified = found["last_modified"].astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return Stored(str(found["path"]), int(found["size"]), etag, modified)


@functools.lru_cache(KEPT)
def _opened(kind: str, settings: tuple[tuple[str, str], ...], secrets: tuple[tuple[str, str], ...]) -> Any:
    from obstore.store import AzureStore, GCSStore, S3Store

    given, hidden = dict(settings), dict(secrets)
    config: Any
    client: Any = {"allow_http": True, "timeout": timedelta(minutes=10), "connect_timeout": timedelta(seconds=5)}
    retry: Any = {"max_retries": 3, "retry_timeout": timedelta(seconds=20)}
    common = {"prefix": given.get("prefix"), "client_options": client, "retry_config": retry}
    if kind == contract.S3:
        config = {key: given[key] for key in ("region", "access_key_id", "endpoint") if key in given}
        config.setdefault("region", "us-east-1")
        config.update({key: hidden[key] for key in ("secret_access_key", "session_token") if key in hidden})
        config["virtual_hosted_style_request"] = given.get("virtual_hosted_style", "").lower() == "true"
        config["skip_signature"] = given.get("anonymous", "").lower() == "true"
        return S3Store(given["bucket"], config=config, **common)
    if kind == contract.GCS:
        config = {"service_account_key": hidden["service_account_key"]} if hidden else {}
        config["skip_signature"] = given.get("anonymous", "").lower() == "true"
        return GCSStore(given["bucket"], config=config, **common)
    config = {"account_name": given["account_name"], "container_name": given["container_name"]}
    config.update({key: given[key] for key in ("tenant_id", "client_id") if key in given})
    config.update({key: hidden[key] for key in ("account_key", "client_secret") if key in hidden})
    if "authority_url" in given:
        config["authority_host"] = given["authority_url"]
    if "sas_token" in hidden:
        config["sas_key"] = hidden["sas_token"].lstrip("?")
        config.pop("account_key", None)
    endpoint = _azure_endpoint(given)
    if endpoint:
        config["endpoint"] = endpoint
    config["skip_signature"] = not hidden
    return AzureStore(config=config, **common)


def _root(kind: str, settings: Mapping[str, str]) -> str:
    """
    >>> _root("s3", {"bucket": "b", "prefix": "/p/", "endpoint": "http://host:9000"})
    's3://host:9000/b/p/'
    """
    host = settings.get("endpoint", "").partition("://")[2] or settings.get("account_name", "")
    parts = (host, settings.get("bucket") or settings["container_name"], settings.get("prefix", ""))
    return f"{kind}://" + "".join(f"{part.strip('/')}/" for part in parts if part.strip("/"))


def _azure_endpoint(given: Mapping[str, str]) -> str | None:
    """SDK v1's endpoint is the end of the host's name (core.windows.net); a whole address is one of another server."""
    endpoint = given.get("endpoint")
    if not endpoint:
        return None
    if "://" in endpoint:
        return endpoint
    return f"{given.get('protocol') or 'https'}://{given['account_name']}.blob.{endpoint}"


@contextlib.contextmanager
def _said(name: str, secrets: tuple[str, ...]) -> Iterator[None]:
    """Say in words what the object store refuses, without any credentials."""
    from obstore.exceptions import BaseError

    try:
        yield
    except (BaseError, OSError, ValueError) as error:
        raise _problem(name, error, secrets) from None


_REFUSED = re.compile(r"\b(?:401|403|Forbidden|Unauthenticated|Unauthorized)\b|expired").search
"""Numbers by themselves: the text also tells how many milliseconds were waited."""


def _words(error: Exception) -> str:
    """What the object store said; obstore adds its own structures to it."""
    text = " ".join(str(error).split()).partition(" Debug source:")[0]
    code, message = (text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0] for tag in ("Code", "Message"))
    if not message:
        return text[:600]
    status = text.partition("status code: ")[2].partition(":")[0]
    return f"{status}, {code}: {message.partition(' RequestId:')[0]}"[:600]


def _problem(name: str, error: Exception, secrets: tuple[str, ...]) -> Problem:
    text = mask(_words(error), secrets)
    refused = _REFUSED(text) is not None
    why = "refuses the credentials" if refused or isinstance(error, PermissionError) else "cannot be used"
    help = "Register it again with overwrite=True and credentials that are valid." if refused else "Check its settings."
    return Problem(
        "datastore_unreachable",
        f"The datastore {name!r} {why}: {text}",
        f"{help} `runyard datastore show {name}`.",
    )
