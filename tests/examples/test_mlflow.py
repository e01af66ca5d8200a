"""What the page of MLflow promises, as its reader tries it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.examples.conftest import Reader

RUNYARD = str(Path(sys.executable).with_name("runyard"))
PAGE = Path(__file__).resolve().parents[2] / "docs" / "mlflow.md"


def test_plain_mlflow_code_in_a_run_and_its_client_beside_it(reader: Reader) -> None:
    said = reader.starts("examples/mlflow/submit.py")
    assert said.count("Completed") == 2
    assert said.count("points: 30") == 2
    assert said.count("['bias', 'weight']") == 2
    assert "best: 0.1" in said
    assert "registered: mlflow_example:1" in said


def test_the_page_works_as_it_is_written(reader: Reader, tmp_path: Path) -> None:
    script, notebook = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[:2]
    train, cell = tmp_path / "project" / "train.py", tmp_path / "notebook.py"
    train.parent.mkdir()
    train.write_text(script)
    cell.write_text(f"{notebook}\nprint(mlflow.search_runs(filter_string='metrics.acc > 0.9', output_format='list'))\n")
    assert "Completed" in reader.starts(RUNYARD, "submit", str(train), "--follow")
    shown = reader.starts(RUNYARD, "show", "@last", "--json")
    assert '"lr": "0.1"' in shown
    for given, found in (("lr=0.1", True), ("lr", True), ("lr=0.2", False)):
        assert ("Completed" in reader.starts(RUNYARD, "ls", "--param", given)) == found, given
    assert "outputs/x.txt" in reader.starts(RUNYARD, "files", "@last")
    assert "metrics={'acc': 0.95}" in reader.starts(str(cell))
