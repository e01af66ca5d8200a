"""Tables in runs: read by the script, in an environment that has pandas, or said what to add where it has none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.web_files import web_files

from azureml.core import Dataset, Experiment

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

READ = """
import sys
from azureml.core import Run
run = Run.get_context()
dataset = run.input_datasets['people']
assert sys.argv[1] == dataset.id
run.log('rows', len(dataset.to_pandas_dataframe()))
run.log('first', int(dataset.take(1).to_pandas_dataframe()['a'][0]))
"""

BARE = """
import sys, pathlib
from runyard.sdk.tables.engines.base import chosen_engine
from runyard.sdk.tables.files import TableFile
from runyard.sdk.tables.reading import Table
path = pathlib.Path(sys.argv[1])
read = {"format": "delimited", "separator": ",", "header": "same", "encoding": "utf8"}
sample = {"step": "sample", "probability": 0.5, "seed": 3}
table = Table({"read": read, "steps": [sample]}, lambda: [TableFile(path, "a.csv")], chosen_engine())
print([value for batch in table.batches() for value in table.engine.values(batch, "a")])
try:
    table.engine.frame(table.batches(), "null")
except Exception as error:
    print(error.message)
"""


def test_a_script_reads_the_rows_of_its_input(shared_yard: Yard) -> None:
    with web_files(**{"a.csv": b"a,b\n1,x\n2,y\n3,z\n"}) as web:
        dataset = Dataset.Tabular.from_delimited_files(f"{web.url}/a.csv")
        given = dataset.filter(dataset["a"] > 1).as_named_input("people")
        run = Experiment(shared_yard.workspace, "tables").submit(shared_yard.config(READ, given))
        run.wait_for_completion()
    assert run.get_metrics() == {"rows": 2, "first": 2}
    assert run.get_details()["inputDatasets"][0]["consumptionDetails"]["mechanism"] == "Direct"


def test_without_pandas_and_pyarrow_rows_are_read_and_the_pip_line_is_said(tmp_path: Path) -> None:
    """In an interpreter that has neither, and no numpy: -S leaves out what is installed."""
    import runyard
    from runyard.sdk.tables.sampling import taken

    path = tmp_path / "a.csv"
    path.write_text("a\n" + "\n".join(map(str, range(20))))
    source = str(Path(runyard.__file__).parent.parent)
    run = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {source!r})\n" + BARE, str(path)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    rows, said = done.stdout.splitlines()
    assert rows == str([number for number, inside in enumerate(taken(3, 0, 20, 0.5, False)) if inside])
    assert "`pip install pandas pyarrow`" in said
