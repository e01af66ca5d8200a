"""Models from the command line: registered from files and from a run, listed, shown, fetched and deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runyard.cli import errors

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

TRAIN = """
import os
os.makedirs("outputs/model", exist_ok=True)
open("outputs/model/w.bin", "wb").write(b"weights")
"""


def test_files_are_registered_listed_fetched_and_deleted(shell: Shell) -> None:
    (shell.folder / "saved").mkdir()
    (shell.folder / "saved/a.bin").write_bytes(b"12345")
    assert "models register" in shell.call("models", "ls", "-t", "nobody-has-this").stdout
    words = ("models", "register", "birds", "saved", "--framework", "Onnx", "--framework-version", "1.3", "-t", "a=1")
    assert shell.json(*words)["id"] == "birds:1"
    said = shell.call("models", "register", "birds", str(shell.folder / "saved/a.bin")).stdout
    assert said.startswith("Registered birds:2 (1 file, 5 B).")
    assert [each["id"] for each in shell.json("models", "ls")] == ["birds:2"]
    assert [each["id"] for each in shell.json("models", "ls", "birds")] == ["birds:2", "birds:1"]
    assert [each["id"] for each in shell.json("models", "ls", "birds", "-t", "a=1")] == ["birds:1"]
    assert "Onnx 1.3" in shell.call("models", "ls", "birds").stdout
    shown = shell.call("models", "show", "birds:1").stdout
    assert "saved/a.bin" in shown
    assert "a=1" in shown
    assert shell.json("models", "show", "birds")["paths"] == ["a.bin"]
    got = shell.json("models", "get", "birds:1", "--to", "here")
    assert got == {"id": "birds:1", "path": str(shell.folder / "here/saved")}
    assert (shell.folder / "here/saved/a.bin").read_bytes() == b"12345"
    assert "exist" in str(shell.refusal("models", "get", "birds:1", "--to", "here", expect=errors.FAILED))
    shell.call("models", "get", "birds:1", "--to", "here", "--overwrite")
    assert "birds" in shell.call("du").stdout
    assert shell.json("models", "rm", "birds:1", "--yes") == {"deleted": ["birds:1"], "bytes_freed": 0}
    assert shell.json("models", "rm", "birds:2", "--yes") == {"deleted": ["birds:2"], "bytes_freed": 5}


def test_what_a_run_wrote_is_registered_and_shown_with_the_run(shell: Shell) -> None:
    (shell.folder / "train.py").write_text(TRAIN)
    shell.call("submit", "train.py", "--follow")
    run = shell.json("ls")[0]["id"]
    made = shell.json("models", "register", "mine", "outputs/model", "--run", "@last")
    assert (made["run_id"], made["root"]) == (run, "model")
    assert "mine:1" in shell.call("show", run).stdout
    assert [each["id"] for each in shell.json("models", "ls", "--run", run)] == ["mine:1"]
    refused = shell.refusal("models", "register", "mine", "outputs/none", "--run", run, expect=errors.NOT_FOUND)
    assert "outputs/model/w.bin" in str(refused)
    shell.call("rm", run, "--yes")
    assert shell.json("models", "show", "mine")["run_id"] == run
    assert shell.json("models", "rm", "mine:1", "--yes")["bytes_freed"] == 7


def test_wrong_calls_say_what_is_wrong(shell: Shell) -> None:
    assert "nowhere" in str(shell.refusal("models", "register", "m", "nowhere", expect=errors.FAILED))
    assert "no name for a model" in str(shell.refusal("models", "register", "../m", ".", expect=errors.FAILED))
    shell.refusal("models", "show", "no-such-model", expect=errors.NOT_FOUND)
    assert "which version" in str(shell.refusal("models", "rm", "birds", "--yes", expect=errors.USAGE))
    shell.refusal("models", "register", "m", ".", "--framework-version", "1", expect=errors.USAGE)
