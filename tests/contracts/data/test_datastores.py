"""What a datastore may be made of: secrets stay among the secrets, and no name or path leads elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.contracts.data.datastores import KINDS, BadDatastore, check, check_name, check_path


def test_settings_are_stored_as_texts_and_names_know_no_case() -> None:
    assert check("s3", {"bucket": "b", "region": None, "anonymous": True}, {}) == {"anonymous": "True", "bucket": "b"}
    assert check_name("WorkspaceBlobStore") == "workspaceblobstore"


@pytest.mark.parametrize(
    ("kind", "settings", "secrets", "said"),
    [
        ("ftp", {}, {}, "no kind"),
        ("folder", {}, {}, "needs path"),
        ("folder", {"path": "data"}, {}, "whole path"),
        ("folder", {"path": "/data/../etc"}, {}, "whole path"),
        ("folder", {"path": "/d", "bucket": "b"}, {}, "no 'bucket'"),
        ("folder", {"path": "/d"}, {"password": "p"}, "no secret 'password'"),
        ("s3", {"bucket": "b/c"}, {}, "is no bucket"),
        ("s3", {"bucket": "b", "secret_access_key": "hush"}, {}, "among the secrets"),
        ("s3", {"bucket": "b", "endpoint": "https://me:hush@host"}, {}, "holds a password"),
        ("s3", {"bucket": "b", "prefix": "../x"}, {}, "no prefix"),
        ("web", {"url": "file:///etc"}, {}, "no web address"),
        ("azure_blob", {"account_name": "a", "container_name": "c"}, {"account_key": ""}, "is not a text"),
        ("s3", {"bucket": "b", "anonymous": "perhaps"}, {}, "true or false"),
    ],
)
def test_what_is_wrong_is_said_without_a_secret(
    kind: str, settings: dict[str, Any], secrets: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadDatastore, match=said) as refused:
        check(kind, settings, secrets)
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize("path", ["", "/", "..", "a/../b", "a\0b", None, ".x.runyard-part", "a" * 5000])
def test_no_path_leaves_the_datastore(path: Any) -> None:
    with pytest.raises(BadDatastore):
        check_path(path)
    assert check_path("./a//b c/ü") == "a/b c/ü"


@pytest.mark.parametrize("name", ["", "a/b", "..", "a b", None, "x" * 256])
def test_other_names_are_refused(name: Any) -> None:
    with pytest.raises(BadDatastore):
        check_name(name)


def test_no_kind_has_a_setting_that_is_also_a_secret() -> None:
    for name, kind in KINDS.items():
        assert not set(kind.secret) & {*kind.needs, *kind.takes}, name
