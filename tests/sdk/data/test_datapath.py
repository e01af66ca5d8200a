import pytest

from runyard.sdk.data.datapath import DataPath, DataPathComputeBinding
from runyard.sdk.exceptions import UserErrorException


def test_there_and_back() -> None:
    path = DataPath("files", "models", "m")
    reference = path.create_data_reference(datapath_compute_binding=DataPathComputeBinding("download"))
    assert (str(reference), reference.mode) == ("$AZUREML_DATAREFERENCE_m", "download")
    back = DataPath.create_from_data_reference(reference)
    assert (back.datastore_name, back.path_on_datastore) == ("files", "models")
    assert DataPathComputeBinding.create_from_data_reference(reference).mode == "download"


def test_faults() -> None:
    with pytest.raises(ValueError, match="datastore"):
        DataPath()
    with pytest.raises(ValueError, match="DataPathComputeBinding"):
        DataPath("files").create_data_reference("m")
    with pytest.raises(UserErrorException, match="mode"):
        DataPathComputeBinding("copy")


def test_a_path_has_a_name_of_its_own() -> None:
    one, other = DataPath("files", "models"), DataPath("files", "models")
    assert one.name != other.name
    assert one.name.startswith("files_")
    assert len(one.name) == len("files_") + 8
