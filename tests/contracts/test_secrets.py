"""A password that reaches the database or a log is lost to whoever reads them."""

from __future__ import annotations

import pytest

from runyard.contracts import secrets
from runyard.contracts.secrets import PREFIX, mask, names_in, reveal, veil


def test_a_definition_comes_back_whole() -> None:
    stored: dict[str, str] = {}

    def store(value: str) -> str:
        name = f"{PREFIX}{len(stored):04x}"
        stored[name] = value
        return name

    definition = {
        "python": {"dependencies": [{"pip": ["--index-url https://me:p4ss@host/simple", "torch"]}]},
        "docker": {"baseImageRegistry": {"address": "host", "username": "me", "password": "s3cret"}},
    }
    veiled = veil(definition, store)
    assert "p4ss" not in str(veiled)
    assert "s3cret" not in str(veiled)
    assert names_in(veiled) == set(stored)
    assert reveal(veiled["python"]["dependencies"][0]["pip"][0], stored) == "--index-url https://me:p4ss@host/simple"
    assert reveal(veiled["docker"]["baseImageRegistry"]["password"], stored) == "s3cret"
    assert veil(veiled, store) == veiled, "what is veiled is not veiled again"


@pytest.mark.parametrize(
    "line",
    [
        "git+ssh://git@host/me/project.git",
        "https://${TOKEN}@host/simple",
        "https://host/simple",
        "me@host.org",
        "https://host?who=me@x",
        "https://me:${TOKEN}@host/simple",
        "https://host/data?version=1&sig=${SIG}",
        "https://host/get?monkey=1&design=2",
        "/data/t/train/images",
        "file:///data/t/train/images",
    ],
)
def test_what_is_no_secret_stays(line: str) -> None:
    assert veil(line, lambda value: "X") == line
    assert mask(line) == line


def test_a_token_alone_is_a_secret_of_an_index() -> None:
    assert mask("see https://ghp_0123@host/x and ftp://u:p@h") == "see https://***@host/x and ftp://***@h"


def test_an_at_sign_in_a_password_does_not_save_the_rest_of_it() -> None:
    assert mask("https://me:p@ss@host/simple") == "https://***@host/simple"
    assert veil({"registry_password": "s3cret"}, lambda value: "X") == {"registry_password": "${X}"}


def test_known_values_are_masked_anywhere() -> None:
    assert mask("login failed for s3cret!", ["s3cret!", "a"]) == "login failed for ***"


def test_an_empty_password_stays_empty() -> None:
    assert veil({"password": None, "Password": ""}, lambda value: "X") == {"password": None, "Password": ""}
    assert secrets.names_in(None) == set()


@pytest.mark.parametrize(
    "text",
    [
        "https://me:p@s3cret@host/simple",
        "https://me:it's3cret@host/simple",
        "https://conda.anaconda.org/t/s3cret/channel::numpy",
        "t/tk-12345678-s3cret/channel",
        "https://a.blob.core.windows.net/c/f?sv=2020-08-04&se=2030&sig=s3cret%2F%3D",
        "--sas sv=2020-08-04&sig=s3cret%2F%3D&se=2030",
        "https://b.s3.amazonaws.com/k?X-Amz-Date=1&X-Amz-Signature=s3cret",
        "https://b.s3.amazonaws.com/k?AWSAccessKeyId=1&Signature=s3cret&Expires=2",
        "https://storage.googleapis.com/b/k?X-Goog-Signature=s3cret",
        "https://raw.githubusercontent.com/me/x/main/y?token=s3cret",
        "https://host/x?first=?sig=s3cret",
        "DefaultEndpointsProtocol=https;AccountName=me;AccountKey=s3cret==;EndpointSuffix=core.windows.net",
    ],
)
def test_every_kind_of_credential_in_an_address_is_found(text: str) -> None:
    stored: dict[str, str] = {}

    def store(value: str) -> str:
        stored[f"{PREFIX}{len(stored):04x}"] = value
        return list(stored)[-1]

    veiled = veil(text, store)
    assert "s3cret" not in veiled + mask(text)
    assert reveal(veiled, stored) == text
    assert (veil(veiled, store), mask(mask(text))) == (veiled, mask(text)), "once is enough"


def test_every_text_of_a_document_is_masked() -> None:
    document = {"a": ["https://me:s3cret@host/", {"b": "x?sig=s3cret"}], "c": None, "d": 1}
    assert secrets.mask_all(document) == {"a": ["https://***@host/", {"b": "x?sig=***"}], "c": None, "d": 1}
