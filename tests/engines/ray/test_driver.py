"""If these fail, the server does not learn why a Ray cluster cannot be used."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from runyard.engines.ray import driver


def test_every_module_that_the_cluster_needs_is_sent() -> None:
    folder = Path(driver.__file__).parent
    assert all((folder / f"{name}.py").is_file() for name in driver.SENT)
    for name in driver.SENT:
        text = (folder / f"{name}.py").read_text("utf-8")
        imported = {other for other in driver.SENT if f"\n    from {other} import" in text}
        assert imported <= set(driver.SENT)
        outside = [line for line in text.splitlines() if line.startswith(("import runyard", "from runyard"))]
        assert outside == [], "the cluster has no Runyard"


def test_a_python_without_ray_is_reported(tmp_path: Path) -> None:
    (tmp_path / "ray.py").write_text("raise ImportError('no ray here')")
    process = subprocess.Popen(
        [sys.executable, driver.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(tmp_path)},
        text=True,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write('{"address": "h:1", "namespace": "n"}\n')
        process.stdin.flush()
        message = json.loads(process.stdout.readline())
    assert message == {
        "event": "failed",
        "away": False,
        "error": f"{sys.executable} has no Ray (no ray here)",
    }


def test_what_a_retry_cannot_help_is_distinguished() -> None:
    mismatch = RuntimeError("Version mismatch: the cluster was started with Ray 2.40. This process has 2.41.")
    assert driver.refused(mismatch) == "Version mismatch: the cluster was started with Ray 2.40"
    assert driver.refused(RuntimeError("it timed out")) is None


def test_an_error_is_shortened() -> None:
    assert driver.first_line(RuntimeError("one\ntwo\nthree\nfour")) == "one two three"
    assert driver.first_line(ValueError()) == "ValueError"
