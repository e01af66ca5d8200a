"""Well-known datasets: by their addresses, which can be mapped."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

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


def test_what_cannot_be_had_is_said() -> None:
    with pytest.raises(UserErrorException, match="one of train, test, all"):
        MNIST.get_file_dataset("half")
    with pytest.raises(UserErrorException, match=r"mlsamples/diabetes/.*from_parquet_files"):
        Diabetes.get_tabular_dataset()
    with pytest.raises(UserErrorException, match="nyctlc/green"):
        NycTlcGreen(datetime(2020, 1, 1), datetime(2020, 2, 1)).to_pandas_dataframe()
    with pytest.raises(UserErrorException, match="are datetimes"):
        NycTlcGreen("2020-01-01")  # type: ignore[arg-type]
