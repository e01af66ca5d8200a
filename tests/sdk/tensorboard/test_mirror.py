"""The mirror of a run's logs: files grow as their originals do, and are replaced when those were written anew."""

from __future__ import annotations

from pathlib import Path

from runyard.sdk.experiment import Experiment
from runyard.sdk.tensorboard.mirror import Mirror


def test_files_follow_their_originals(experiment: Experiment, tmp_path: Path) -> None:
    run = experiment.start_logging(snapshot_directory=None)
    place = tmp_path / "file"
    mirror = Mirror(run._service, run.id, tmp_path / "mirror")

    def store(name: str, text: str) -> None:
        place.write_text(text)
        run.upload_file(name, place)
        run.flush()

    store("logs/a/one.txt", "first")
    store("outputs/events.out.tfevents.1", "event")
    store("outputs/model.pt", "model")
    assert mirror.update()
    assert (tmp_path / "mirror/a/one.txt").read_text() == "first"
    assert (tmp_path / "mirror/outputs/events.out.tfevents.1").read_text() == "event"
    assert not (tmp_path / "mirror/outputs/model.pt").exists()
    for text in ("first and more", "short", "other"):
        store("logs/a/one.txt", text)
        mirror.update()
        assert (tmp_path / "mirror/a/one.txt").read_text() == text
    run.complete()
    assert not mirror.update()
