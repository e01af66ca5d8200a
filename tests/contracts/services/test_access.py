"""If these fail, a service opens to a key or token that is not valid, or is closed to one that is."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from runyard.contracts.services.access import Access, hash_of, issue_token, token_is_valid


def test_keys_are_known_by_their_hashes(tmp_path: Path) -> None:
    path = tmp_path / "access.json"
    path.write_text(json.dumps(Access([hash_of("one"), hash_of("two")]).as_dict()))
    access = Access.read(path)
    assert "one" not in path.read_text()
    assert [access.opens("key", "mine", shown, 0) for shown in ("one", "two", "three", "")] == [
        True,
        True,
        False,
        False,
    ]
    assert not Access().opens("key", "mine", "", 0)


def test_a_token_is_for_one_service_and_ends() -> None:
    token = issue_token("secret", "mine", 100, 200)
    access = Access([hash_of("one")], "secret")
    assert access.opens("token", "mine", token, 199)
    assert not access.opens("token", "mine", token, 200)
    assert not access.opens("token", "other", token, 150)
    assert not access.opens("token", "mine", "one", 150)
    assert not access.opens("key", "mine", token, 150)
    assert not token_is_valid("", "mine", issue_token("", "mine", 0, 900), 1)


def test_a_token_that_was_changed_is_not_valid() -> None:
    head, claims, signature = issue_token("secret", "mine", 100, 200).split(".")
    later = base64.urlsafe_b64encode(json.dumps({"sub": "mine", "exp": 999}).encode()).decode().rstrip("=")
    for forged in (
        f"{head}.{later}.{signature}",
        f"{head}.{claims}.",
        "",
        "..",
        "a.b.c",
        f"{claims}.{signature}",
        "ü.ü",
    ):
        assert not token_is_valid("secret", "mine", forged, 150)
