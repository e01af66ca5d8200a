"""`runyard import mlflow`, as it is typed."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Shell


def mlruns(folder: Path) -> Path:
    """A folder of MLflow with one run, as 2.x writes it."""
    run = folder / "mlruns" / "7" / ("a" * 32)
    (run / "metrics").mkdir(parents=True)
    (run / "artifacts").mkdir()
    (run / "artifacts" / "x.txt").write_text("kept")
    (run / "metrics" / "loss").write_text("1600000000000 0.5 0\n1600000000001 0.25 1\n")
    (run / "meta.yaml").write_text(
        f"run_id: {'a' * 32}\nrun_name: old\nstart_time: 1600000000000\nend_time: 1600000000005\nstatus: 3\n"
        "lifecycle_stage: active\nuser_id: me\n"
    )
    (run.parent / "meta.yaml").write_text("experiment_id: '7'\nname: old ones\nlifecycle_stage: active\n")
    return folder / "mlruns"


def test_a_folder_is_brought_here_once(shell: Shell, tmp_path: Path) -> None:
    source = mlruns(tmp_path)
    said = shell.json("import", "mlflow", str(source))
    assert (said["runs"], said["points"], said["files"], said["lost"]) == (1, 2, 1, [])
    shown = shell.json("show", "a" * 32)
    assert (shown["display_name"], shown["experiment"], shown["status"]) == ("old", "old ones", "Completed")
    assert "1 runs were there already" in shell.call("import", "mlflow", str(source)).stdout
    assert "no folder" in shell.refusal("import", "mlflow", str(tmp_path / "none"), expect=1)["title"]
