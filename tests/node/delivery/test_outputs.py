"""Every file in the outputs folder is in the run's history at the end, as it was then."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.node.delivery import settling
from runyard.node.delivery.outputs import NAMES_PER_REQUEST, Outputs

if TYPE_CHECKING:
    from tests.node.conftest import RunOnServer

Until = Callable[[Callable[[], object], str], None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "outputs" / "deep").mkdir(parents=True)
    return tmp_path / "outputs"


@pytest.fixture
def outputs(run: RunOnServer, folder: Path) -> Outputs:
    return Outputs(run.client(folder), folder, "outputs")


def test_all_of_it_at_the_end(outputs: Outputs, run: RunOnServer, folder: Path) -> None:
    content = {"model.pt": os.urandom(3_000_000), "deep/ü ber.txt": b"x", "empty": b"", "same": b"x"}
    for name, text in content.items():
        (folder / name).write_bytes(text)
    outputs.upload_all()
    assert set(run.files()) == {f"outputs/{name}" for name in content}
    for name, text in content.items():
        assert run.read(f"outputs/{name}") == text
    assert outputs.warnings == []


def test_a_file_that_settles_is_kept_while_the_script_runs(
    outputs: Outputs, run: RunOnServer, folder: Path, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "SETTLED_AFTER", 0.05)
    (folder / "checkpoint").write_bytes(b"1")
    outputs.upload_settled()
    assert run.files() == {}, "it was seen only once"

    def uploaded() -> bool:
        (folder / "growing").write_bytes(os.urandom(8))
        outputs.upload_settled()
        return "outputs/checkpoint" in run.files()

    until(uploaded, "the checkpoint")
    assert "outputs/growing" not in run.files()
    (folder / "checkpoint").write_bytes(b"22")
    outputs.upload_all()
    assert run.read("outputs/checkpoint") == b"22"
    assert run.read("outputs/growing") == (folder / "growing").read_bytes()


def test_links_to_files_are_followed_and_those_to_folders_told(
    outputs: Outputs, run: RunOnServer, folder: Path, tmp_path: Path
) -> None:
    (folder / "epoch-3.pt").write_bytes(b"3")
    (folder / "best.pt").symlink_to("epoch-3.pt")
    (folder / "gone.pt").symlink_to("epoch-9.pt")
    (folder / "latest").symlink_to("deep")
    (tmp_path / "elsewhere").mkdir()
    (folder / "data").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(folder / "pipe")
    outputs.upload_all()
    assert run.files() == {"outputs/epoch-3.pt": 1, "outputs/best.pt": 1}
    [warning] = outputs.warnings
    assert "outputs/data" in warning


def test_names_that_the_server_would_see_otherwise(outputs: Outputs, run: RunOnServer, folder: Path) -> None:
    for name in ("bad-\udcff", "back\\slash", "..\\out", "fine"):
        (folder / name).write_text(name, errors="surrogateescape")
    outputs.upload_all()
    assert run.read("outputs/bad-%FF") == b"bad-\xff"
    assert run.read("outputs/back/slash") == b"back\\slash"
    assert run.read("outputs/fine") == b"fine"
    [warning] = outputs.warnings
    assert "out" in warning


def test_no_outputs_at_all(run: RunOnServer, tmp_path: Path) -> None:
    outputs = Outputs(run.client(tmp_path), tmp_path / "none", "outputs")
    outputs.upload_settled()
    outputs.upload_all()
    assert run.files() == {}
    assert outputs.warnings == []


def test_more_files_than_fit_in_one_request(outputs: Outputs, run: RunOnServer, folder: Path) -> None:
    for number in range(NAMES_PER_REQUEST + 5):
        (folder / f"{number}").write_text(str(number % 3))
    outputs.upload_all()
    assert len(run.files()) == NAMES_PER_REQUEST + 5
