"""Tables in runs: read by the script, in an environment that has pandas, or said what to add where it has none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.web_files import web_files

from azureml.core import Dataset, Datastore, Experiment
from azureml.opendatasets import MNIST, NycTlcGreen

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


KNOWN = """
from datetime import datetime
from azureml.core import Run
from azureml.opendatasets import MNIST, NycTlcGreen
run = Run.get_context()
run.log('files', len(MNIST.get_file_dataset().download('here')))
run.log('label', int(MNIST.get_tabular_dataset('test').to_pandas_dataframe()['label'][0]))
taxis = NycTlcGreen(datetime(2020, 1, 10), datetime(2020, 1, 20)).to_pandas_dataframe()
run.log('fare', float(taxis['fare'].sum()))
"""


def test_a_script_finds_open_datasets_where_their_addresses_are_mapped_to(shared_yard: Yard, tmp_path: Path) -> None:
    """A script that looks its data up by itself, as a notebook does, reads it where the operator has put it."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    for part in ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"):
        (tmp_path / f"{part}-ubyte.gz").write_bytes(part.encode())
    (tmp_path / "processed").mkdir()
    (tmp_path / "processed" / "test.csv").write_text("0,1,label\n0,255,7\n")
    folder = tmp_path / "taxis" / "puYear=2020" / "puMonth=1"
    folder.mkdir(parents=True)
    days = pandas.to_datetime(["2020-01-01", "2020-01-15", "2020-01-31"])
    pandas.DataFrame({"lpepPickupDatetime": days, "fare": [1.0, 2.0, 3.0]}).to_parquet(folder / "part-0.parquet")
    ws = shared_yard.workspace
    store = Datastore.register_folder(ws, "taxis", str(tmp_path))
    address = f"/api/workspaces/{ws.name}/data-map"
    places = {MNIST.ADDRESS: str(tmp_path), NycTlcGreen.ADDRESS: "datastore:taxis/taxis"}
    try:
        for prefix, place in places.items():
            ws.service.put(address, {"prefix": prefix, "place": place})
        run = Experiment(ws, "tables").submit(shared_yard.config(KNOWN))
        run.wait_for_completion()
    finally:
        for prefix in ws.service.get(address)["map"]:
            ws.service.delete(address, params={"prefix": prefix})
        store.unregister()
    assert run.get_metrics() == {"files": 4, "label": 7, "fare": 2.0}
