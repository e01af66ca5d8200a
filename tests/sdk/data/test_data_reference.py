import pytest

from runyard.sdk.data.data_reference import DataReference
from runyard.sdk.data.datapath import DataPath, DataPathComputeBinding
from runyard.sdk.exceptions import UserErrorException


class Store:
    name = "workspaceblobstore"


def test_as_an_argument_it_is_the_variable_with_its_path() -> None:
    reference = DataReference(Store(), "images")
    assert str(reference) == repr(reference) == "$AZUREML_DATAREFERENCE_images"


def test_the_name_is_the_datastores_unless_there_is_a_path() -> None:
    assert DataReference(Store()).data_reference_name == "workspaceblobstore"
    one, other = DataReference(Store(), path_on_datastore="a"), DataReference(Store(), path_on_datastore="a")
    assert one.data_reference_name != other.data_reference_name
    assert int(one.data_reference_name, 16)


def test_only_the_known_modes() -> None:
    with pytest.raises(UserErrorException, match="mount, download, upload"):
        DataReference(Store(), mode="copy")


def test_a_changed_mode_is_a_copy_under_the_same_name() -> None:
    reference = DataReference(Store(), "images", "train")
    fetched = reference.as_download("/data", overwrite=True)
    assert (reference.mode, fetched.mode, fetched.as_upload().mode, fetched.as_mount().mode) == (
        "mount",
        "download",
        "upload",
        "mount",
    )
    assert (fetched.data_reference_name, fetched.path_on_compute, fetched.overwrite) == ("images", "/data", True)


def test_a_path_below() -> None:
    assert DataReference(Store(), "images", "train").path("cats", "cats").path_on_datastore == "train/cats"
    assert DataReference(Store(), "images").path("cats").path_on_datastore == "cats"


def test_as_a_section_of_a_run_configuration() -> None:
    assert DataReference("files", "images", "train", "download").to_config().to_dict() == {
        "dataStoreName": "files",
        "mode": "download",
        "pathOnDataStore": "train",
        "pathOnCompute": None,
        "overwrite": False,
    }


def test_made_from_a_path_and_a_binding() -> None:
    made = DataReference.create("m", DataPath(Store(), "models"), DataPathComputeBinding("download", "/m", True))
    assert (made.data_reference_name, made.path_on_datastore, made.mode, made.path_on_compute, made.overwrite) == (
        "m",
        "models",
        "download",
        "/m",
        True,
    )
    with pytest.raises(UserErrorException, match="datapath"):
        DataReference.create("m")
