"""The example of data makes its own, and the script sees all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.examples.conftest import Reader


def test_a_folder_becomes_a_dataset_that_a_script_reads(reader: Reader) -> None:
    said = reader.starts("examples/data/submit.py")
    assert "['/monday/points.csv', '/tuesday/points.csv', '/wednesday/points.csv']" in said
    assert "'points': 300" in said
    assert "'slope': 3.0" in said
    stored = reader.home / ".runyard/datastores/local/workspaceblobstore/examples/points/monday/points.csv"
    assert stored.read_text().startswith("x,y")
