"""MLflow's folders are read as they are, and what is none is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.transfer.conftest import Written
from tests.support.frameworks import environment  # noqa: F401 - these need it

from runyard.cli.errors import CommandError
from runyard.cli.transfer.folders import MlflowFolder


def test_what_is_read(folders: Written) -> None:
    source = MlflowFolder(folders.folder / "mlruns")
    first = next(each for each in source.experiments() if each.name == "first/of all")
    assert [run.id for run in source.runs(first)] == [folders.ids["parent"], folders.ids["child"]]
    [model] = source.models()
    assert (len(model.versions), model.aliases) == (2, {"champion": 2})
    assert source.left_out() == {}


def test_what_is_none(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no folder"):
        MlflowFolder(tmp_path / "none")
    with pytest.raises(CommandError, match="no folder of MLflow"):
        MlflowFolder(tmp_path)
    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "meta.yaml").write_text("a: [")
    with pytest.raises(CommandError, match="cannot be read"):
        MlflowFolder(tmp_path).experiments()
