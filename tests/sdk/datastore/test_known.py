"""A datastore that the server knows has the class, and the attributes, that scripts of SDK v1 look at."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from runyard.sdk.datastore.known import made

HERE: Any = SimpleNamespace(name="local")


def known(kind: str, settings: dict[str, str], *secrets: str) -> Any:
    return made(HERE, {"name": "known", "kind": kind, "settings": settings, "secrets": list(secrets)})


@pytest.mark.parametrize(
    ("kind", "settings", "expected", "type"),
    [
        ("azure_blob", {"container_name": "c", "account_name": "a"}, "AzureBlobDatastore", "AzureBlob"),
        ("azure_file", {"container_name": "c", "account_name": "a"}, "AzureFileDatastore", "AzureFile"),
        ("azure_data_lake_gen2", {"container_name": "c", "account_name": "a"}, "AzureDataLakeGen2Datastore", None),
        ("sqlite", {"path": "/a.db"}, "SqliteDatastore", None),
        ("s3", {"bucket": "b"}, "FileDatastore", None),
    ],
)
def test_its_class(kind: str, settings: dict[str, str], expected: str, type: str | None) -> None:
    found = known(kind, settings)
    assert (found.__class__.__name__, found.name) == (expected, "known")
    assert type is None or found.datastore_type == type


def test_which_credentials_there_are_is_told_and_not_what_they_are() -> None:
    given = {"container_name": "c", "account_name": "a"}
    assert known("azure_blob", given).credential_type == "None"
    assert known("azure_blob", given, "account_key").credential_type == "AccountKey"
    assert known("azure_blob", given, "account_key", "sas_token").credential_type == "Sas"
    assert known("azure_blob", given, "account_key").account_key is None
