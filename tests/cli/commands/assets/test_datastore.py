"""Datastores from the command line: registered without a secret in sight, filled, looked at, and read again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runyard.cli import errors

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def test_a_folder_is_added_filled_shown_read_and_forgotten(shell: Shell) -> None:
    (shell.folder / "place").mkdir()
    (shell.folder / "data/sub").mkdir(parents=True)
    (shell.folder / "data/a.txt").write_text("a")
    (shell.folder / "data/sub/b.txt").write_text("bb")
    (shell.folder / "c.txt").write_text("ccc")
    made = shell.json("datastore", "add", "Mine", "folder", "--set", "path=place")
    assert made["settings"] == {"path": str(shell.folder / "place")}
    assert shell.json("datastore", "put", "mine", "data", "c.txt", "--to", "up") == {"uploaded": 3, "skipped": 0}
    assert shell.json("datastore", "put", "mine", "data", "--to", "up") == {"uploaded": 0, "skipped": 2}
    assert "mine" in shell.call("datastore", "ls").stdout
    assert shell.call("datastore", "tree", "mine").stdout.splitlines() == [
        *("up/", "  c.txt  3 B", "  data/", "    a.txt  1 B", "    sub/", "      b.txt  2 B", "3 files, 6 B")
    ]
    (shell.folder / "place/new\nline").touch()
    assert shell.call("datastore", "tree", "mine").stdout.startswith("new\\u000aline  0 B\n"), "one line for each"
    (shell.folder / "place/new\nline").unlink()
    assert shell.json("datastore", "get", "mine", "up/d", "--to", "here") == {"downloaded": 2, "skipped": 0}
    assert (shell.folder / "here/up/data/sub/b.txt").read_text() == "bb"
    assert shell.json("datastore", "get", "mine", "up/d", "--to", "here") == {"downloaded": 0, "skipped": 2}
    assert "begins with 'nope'" in str(shell.refusal("datastore", "get", "mine", "nope", expect=errors.FAILED))
    shell.refusal("datastore", "add", "mine", "folder", "--set", "path=place", expect=errors.FAILED)
    assert shell.json("datastore", "rm", "mine", "--yes") == {"unregistered": "mine", "datasets": []}
    assert (shell.folder / "place/up/c.txt").exists()
    shell.refusal("datastore", "show", "mine", expect=errors.NOT_FOUND)


def test_a_folder_that_is_not_there_is_registered_with_a_warning(shell: Shell) -> None:
    made = shell.call("datastore", "add", "later", "folder", "--set", "path=nowhere")
    assert made.stdout.startswith("Registered later")
    assert f"cannot be used: the folder is not there ({shell.folder / 'nowhere'})" in made.stderr
    (shell.folder / "nowhere").mkdir()
    again = shell.call("datastore", "add", "later", "folder", "--set", "path=nowhere", "--overwrite")
    assert not again.stderr
    shell.call("datastore", "rm", "later", "--yes")


def test_a_secret_comes_from_a_file_or_a_variable_and_is_never_shown(shell: Shell) -> None:
    (shell.folder / "key").write_text("hush-hush\n")
    words = ("datastore", "add", "bucket_c", "s3", "--set", "bucket=b")
    refused = shell.refusal(*words, "--secret", "secret_access_key=hush-hush", expect=errors.USAGE)
    assert "command line" in str(refused)
    assert "hush" not in str(refused)
    made = shell.call(*words, "--secret", "secret_access_key=@key", "--json").stdout
    assert "hush" not in made
    again = shell.call(*words, "--secret", "secret_access_key=env:MINE", "--overwrite", MINE="hush-hush")
    shown = shell.call("datastore", "show", "bucket_c").stdout
    assert "secret_access_key" in shown
    assert "hush" not in shown + again.stdout
    shell.call("datastore", "rm", "bucket_c", "--yes")
