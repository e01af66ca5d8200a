import pytest

from runyard.sdk.data.configuration import (
    Data,
    DataLocation,
    DataPath,
    DataReferenceConfiguration,
    Dataset,
    GlobsOptions,
    OutputData,
    OutputOptions,
    RegistrationOptions,
    UploadOptions,
)
from runyard.sdk.data.data_reference import DataReference
from runyard.sdk.exceptions import UserErrorException


def test_round_trip_of_inputs_and_outputs() -> None:
    source = Data(DataLocation(Dataset("i", "n", "1")), mechanism="download", options={"a": "b"})
    assert Data.from_dict(source.to_dict()) == source
    result = OutputData(
        DataLocation(data_path=DataPath("files", "out")),
        "upload",
        OutputOptions("/out", RegistrationOptions("set", tags={"a": "b"}), UploadOptions(True, GlobsOptions(["*.pt"]))),
    )
    assert OutputData.from_dict(result.to_dict()) == result


def test_an_input_is_made_from_what_stands_for_one() -> None:
    made = Data.create(DataReference("files", "images", "train", "download"))
    assert made.data_location == DataLocation(data_path=DataPath("files", "train"))
    assert (made.mechanism, made.environment_variable_name) == ("download", "AZUREML_DATAREFERENCE_images")
    assert Data.create(made) is made
    assert Data.create(made.to_dict()) == made
    with pytest.raises(TypeError, match="int"):
        Data.create(3)  # type: ignore[arg-type]


def test_a_data_reference_has_a_known_mode() -> None:
    with pytest.raises(UserErrorException, match="mode"):
        DataReferenceConfiguration("files", "copy")
