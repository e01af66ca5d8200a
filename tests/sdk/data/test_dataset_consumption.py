from typing import Any

import pytest

from runyard.sdk.data.configuration import Data, DataLocation, Dataset
from runyard.sdk.data.dataset_consumption import DatasetConsumptionConfig
from runyard.sdk.exceptions import UserErrorException


def test_how_an_input_is_read() -> None:
    direct = DatasetConsumptionConfig("images", ("ws", "birds", 3))
    assert (direct.name, direct.mode, direct.arg_val) == ("images", "direct", "DatasetConsumptionConfig:images")
    assert direct.as_mount("/data").mode == "mount"
    assert direct.as_mount("/data").path_on_compute == "/data"
    assert direct.as_download().mode == "download"
    assert direct.as_hdfs().mode == "hdfs"
    assert direct.mode == "direct"
    assert direct.to_config() == Data(
        DataLocation(Dataset(None, "birds", "3")), mechanism="direct", environment_variable_name="images"
    )


def test_an_input_without_a_name_gets_one() -> None:
    assert DatasetConsumptionConfig(None, ("ws", "birds")).name.startswith("input__")


@pytest.mark.parametrize("name", ["1st", "a-b", "a b", 3])
def test_names_that_no_variable_can_have(name: Any) -> None:
    with pytest.raises(UserErrorException, match="no name for an input"):
        DatasetConsumptionConfig(name, ("ws", "birds"))


def test_a_name_that_hides_a_variable() -> None:
    with pytest.warns(UserWarning, match="hides an environment variable"):
        DatasetConsumptionConfig("PATH", ("ws", "birds"))


def test_other_modes() -> None:
    with pytest.raises(UserErrorException, match="direct, download, mount, hdfs"):
        DatasetConsumptionConfig("images", ("ws", "birds"), "upload")
    with pytest.raises(UserErrorException, match="named by"):
        DatasetConsumptionConfig("images", ("ws",)).to_config()
