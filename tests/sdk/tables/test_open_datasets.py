"""Well-known datasets: by their addresses, which can be mapped."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from azureml.core import Datastore
from azureml.opendatasets import MNIST, Diabetes, NycTlcGreen
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.workspace.workspace import Workspace


def test_mnist_from_a_folder_that_its_address_is_mapped_to(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "processed").mkdir()
    for part in ("train", "test"):
        (tmp_path / "processed" / f"{part}.csv").write_text("0,1,label\n0,255,7\n")
    for name in ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"):
        (tmp_path / f"{name}-ubyte.gz").write_bytes(name.encode())
    workspace.service.put(
        f"/api/workspaces/{workspace.name}/data-map", {"prefix": MNIST.ADDRESS, "place": str(tmp_path)}
    )
    assert len(MNIST.get_file_dataset().to_path()) == 4
    [images, labels] = MNIST.get_file_dataset("test").download(str(tmp_path / "here"))
    assert Path(images).read_text() == "t10k-images-idx3"
    assert labels.endswith("/t10k-labels-idx1-ubyte.gz")
    assert MNIST.get_tabular_dataset().to_pandas_dataframe()["label"].tolist() == [7, 7]
    assert len(MNIST.get_tabular_dataset("train").to_pandas_dataframe()) == 1


def test_parquet_files_from_a_datastore_that_their_address_is_mapped_to(workspace: Workspace, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    folder = tmp_path / "green" / "puYear=2020" / "puMonth=1"
    folder.mkdir(parents=True)
    days = pandas.to_datetime(["2020-01-01", "2020-01-15", "2020-01-31"])
    pandas.DataFrame({"lpepPickupDatetime": days, "fare": [1.0, 2.0, 3.0]}).to_parquet(folder / "part-0.parquet")
    store = Datastore.register_folder(workspace, "taxis", str(tmp_path))
    address = f"/api/workspaces/{workspace.name}/data-map"
    try:
        workspace.service.put(address, {"prefix": NycTlcGreen.ADDRESS, "place": "datastore:taxis/green"})
        found = NycTlcGreen(datetime(2020, 1, 10), datetime(2020, 1, 20)).to_pandas_dataframe()
        assert found["fare"].tolist() == [2.0]
        assert NycTlcGreen.get_tabular_dataset(cols=["fare"]).to_pandas_dataframe()["fare"].tolist() == [1.0, 2.0, 3.0]
    finally:
        workspace.service.delete(address, params={"prefix": NycTlcGreen.ADDRESS})
        store.unregister()


def test_what_cannot_be_had_is_said(workspace: Workspace) -> None:
    with pytest.raises(UserErrorException, match="one of train, test, all"):
        MNIST.get_file_dataset("half")
    with pytest.raises(UserErrorException, match=r"runyard data map .*mlsamples/diabetes/ datastore:NAME"):
        Diabetes.get_tabular_dataset()
    with pytest.raises(UserErrorException, match="nyctlc/green"):
        NycTlcGreen(datetime(2020, 1, 1), datetime(2020, 2, 1)).to_pandas_dataframe()
    with pytest.raises(UserErrorException, match="are datetimes"):
        NycTlcGreen("2020-01-01")  # type: ignore[arg-type]
