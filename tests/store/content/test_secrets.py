"""If these fail, others read a user's credentials, or a private index refuses its owner."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from runyard.store.content.secrets import SecretMissing, Secrets


def test_a_value_is_kept_under_a_name_that_tells_nothing(tmp_path: Path) -> None:
    secrets = Secrets(tmp_path / "secrets", "key")
    name = secrets.keep("me:pässwörd\r\n")
    assert name.startswith("RUNYARD_SECRET_")
    assert len(name) == len("RUNYARD_SECRET_") + 32
    assert secrets.value(name) == "me:pässwörd\r\n"
    assert Secrets(tmp_path / "secrets", "key").value(name) == "me:pässwörd\r\n"
    assert secrets.keep("me:pässwörd\r\n") == name
    assert (
        len({name, secrets.keep("other"), Secrets(tmp_path / "elsewhere", "another key").keep("me:pässwörd\r\n")}) == 3
    )


def test_only_the_user_reads_them(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    folder.mkdir(mode=0o755)
    name = Secrets(folder, "key").keep("value")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / name).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in folder.iterdir()] == [name]


@pytest.mark.parametrize("name", ["RUNYARD_SECRET_" + "0" * 32, "RUNYARD_SECRET_0", "../token", ""])
def test_a_value_that_is_not_there_is_said_in_words(tmp_path: Path, name: str) -> None:
    (tmp_path / "token").write_text("the token")
    with pytest.raises(SecretMissing, match="cannot be had"):
        Secrets(tmp_path / "secrets", "key").value(name)


def test_many_keep_the_same_value_at_once(tmp_path: Path) -> None:
    secrets = Secrets(tmp_path / "secrets", "key")
    names: list[str] = []
    threads = [threading.Thread(target=lambda: names.append(secrets.keep("value"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(names) == 8
    assert {secrets.value(name) for name in names} == {"value"}
