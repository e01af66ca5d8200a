"""The outputs of a run are uploaded beside everything else, by a thread that only a run with outputs has."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runyard.node.delivery import uploads as module
from runyard.node.delivery.outputs import Outputs
from runyard.node.delivery.uploads import Uploads

Until = Callable[[Callable[[], object], str], None]


class Recorded(Outputs):
    """Outputs that are not sent anywhere."""

    def __init__(self, folder: Path) -> None:
        super().__init__(None, folder, "outputs")  # type: ignore[arg-type]
        self.calls: list[str] = []
        self.fails = False

    def upload_settled(self) -> None:
        self.calls.append("settled")

    def upload_all(self) -> None:
        if self.fails:
            raise ConnectionError("the server is gone")
        self.calls.append("all")


@pytest.fixture
def outputs(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "outputs"]


def test_a_run_without_outputs_has_no_thread(outputs: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_EVERY", 0.0)
    uploads = Uploads([outputs], lambda: None)
    uploads.check()
    uploads.finish()
    assert uploads.done()
    assert outputs.calls == []
    assert threads() == []


def test_what_has_settled_is_uploaded_meanwhile_and_everything_at_the_end(
    outputs: Recorded, tmp_path: Path, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_EVERY", 0.001)
    (tmp_path / "model").write_text("x")
    ended = threading.Event()
    uploads = Uploads([outputs], ended.set)

    def looked() -> bool:
        uploads.check()
        return bool(outputs.calls)

    until(looked, "the first look")
    assert not uploads.done()
    uploads.finish()
    assert ended.wait(60)
    assert uploads.done()
    assert set(outputs.calls[:-1]) == {"settled"}
    assert outputs.calls[-1] == "all"


def test_a_short_run_uploads_at_its_end_alone(outputs: Recorded, tmp_path: Path) -> None:
    (tmp_path / "model").write_text("x")
    ended = threading.Event()
    uploads = Uploads([outputs], ended.set)
    uploads.check()
    assert threads() == []
    uploads.finish()
    assert ended.wait(60)
    assert outputs.calls == ["all"]


def test_what_goes_wrong_is_raised_by_the_check(outputs: Recorded, tmp_path: Path) -> None:
    (tmp_path / "model").write_text("x")
    outputs.fails = True
    ended = threading.Event()
    uploads = Uploads([outputs], ended.set)
    uploads.finish()
    assert ended.wait(60)
    with pytest.raises(ConnectionError, match="is gone"):
        uploads.check()


def test_a_run_that_collects_no_outputs() -> None:
    uploads: Any = Uploads([], lambda: None)
    uploads.finish()
    uploads.check()
    assert uploads.done()
