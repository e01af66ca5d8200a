from __future__ import annotations

from typing import TYPE_CHECKING

from runyard.cli import errors

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

WRITES = """
import os
os.makedirs("outputs/deep", exist_ok=True)
open("outputs/model.bin", "wb").write(bytes(range(256)) * 8000)
open("outputs/deep/a ü#?%.txt", "w").write("odd name")
print("log")
"""


def test_files_are_listed_with_their_sizes(shell: Shell) -> None:
    run_id = shell.completed(WRITES)["id"]
    sizes = {file["name"]: file["size"] for file in shell.json("files", run_id)}
    assert sizes["outputs/model.bin"] == 2_048_000
    assert sizes["user_logs/std_log.txt"] == 4
    assert "outputs/model.bin" in shell.call("files", run_id).stdout
    assert "2.0 MB" in shell.call("files", run_id).stdout


def test_get_everything_or_a_file_or_a_folder(shell: Shell) -> None:
    run_id = shell.completed(WRITES)["id"]
    shell.call("get", run_id)
    everything = shell.folder / run_id
    assert (everything / "outputs/model.bin").read_bytes() == bytes(range(256)) * 8000
    assert (everything / "outputs/deep/a ü#?%.txt").read_text() == "odd name"
    assert (everything / "user_logs/std_log.txt").read_text() == "log\n"

    told = shell.call("get", run_id, "outputs/model.bin", "--to", "here").stdout
    assert told == "here/outputs/model.bin\n"
    got = shell.json("get", run_id, "outputs/deep/", "outputs/model.bin", "--to", "there")
    assert sorted(entry["name"] for entry in got) == ["outputs/deep/a ü#?%.txt", "outputs/model.bin"]
    assert not list(shell.folder.rglob("*.part"))


def test_a_file_whose_bytes_have_changed_on_the_server_is_refused(shell: Shell) -> None:
    run_id = shell.completed(WRITES.replace("8000", "8001"))["id"]
    files = {file["name"]: file for file in shell.json("files", run_id)}
    digest = files["outputs/model.bin"]["hash"]
    path = shell.home / "objects" / digest[:2] / digest[2:]
    whole = path.read_bytes()
    path.write_bytes(b"X" + whole[1:])
    error = shell.refusal("get", run_id, "outputs/model.bin", expect=errors.FAILED)
    assert error["code"] == "object_damaged"
    assert "outputs/model.bin" in error["title"]
    path.write_bytes(whole[:1000])
    assert "has 1000 bytes" in shell.refusal("get", run_id, "outputs/model.bin", expect=errors.FAILED)["title"]
    assert not [path for path in shell.folder.rglob("*") if path.name.startswith(("model.bin", ".model.bin"))]
    path.write_bytes(whole)
    shell.call("get", run_id, "outputs/model.bin")


def test_a_file_that_is_not_there(shell: Shell) -> None:
    run_id = shell.completed()["id"]
    error = shell.refusal("get", run_id, "outputs/none", expect=errors.NOT_FOUND)
    assert "outputs/none" in error["title"]
    assert not (shell.folder / run_id).exists()


def test_a_file_and_a_folder_of_one_name_are_both_had(shell: Shell) -> None:
    run_id = shell.completed(
        "import io\n"
        "from azureml.core import Run\n"
        "run = Run.get_context()\n"
        "for name in ('outputs/x', 'outputs/x/y'):\n"
        "    run.upload_file(name, io.BytesIO(name.encode()))\n"
        "run.download_files(prefix='outputs/', output_directory='here', append_prefix=False)\n"
        "print(open('here/x~').read(), open('here/x/y').read())\n"
    )["id"]
    said = shell.call("get", run_id)
    assert "outputs/x is also a folder of the run, so the file is here as outputs/x~." in said.stderr
    got = shell.folder / run_id
    assert (got / "outputs/x~").read_text() == "outputs/x"
    assert (got / "outputs/x/y").read_text() == "outputs/x/y"
    assert (got / "user_logs/std_log.txt").read_text() == "outputs/x outputs/x/y\n"
    assert {entry["path"] for entry in shell.json("get", run_id, "outputs/x", "--to", "t")} == {
        "t/outputs/x~",
        "t/outputs/x/y",
    }
