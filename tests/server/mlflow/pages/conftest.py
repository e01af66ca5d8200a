"""MLflow's wheel, with its built pages, in reach of the server of these tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.frameworks import environment


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the package: that of the environment in which the tests have MLflow's client."""
    (packages,) = environment("mlflow").parents[1].glob("lib/python3*/site-packages")
    (described,) = packages.glob("mlflow-3*.dist-info")
    place = tmp_path / "installed"
    place.mkdir()
    for each in (packages / "mlflow", described):
        (place / each.name).symlink_to(each)
    monkeypatch.syspath_prepend(place)
    return place / "mlflow"
