from typing import Any

import pytest

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.submit.resource_configuration import ResourceConfiguration


def test_round_trip() -> None:
    wanted = ResourceConfiguration(cpu=1, memory_in_gb=0.5, gpu=2)
    assert wanted.serialize() == {"cpu": 1, "memoryInGB": 0.5, "gpu": 2}
    assert ResourceConfiguration.deserialize(wanted.serialize()) == wanted
    assert ResourceConfiguration.deserialize(None) is None


@pytest.mark.parametrize("amounts", [{"cpu": 0}, {"memory_in_gb": -0.5}, {"gpu": 0}])
def test_nothing_and_less_are_refused(amounts: dict[str, Any]) -> None:
    with pytest.raises(WebserviceException, match=next(iter(amounts))):
        ResourceConfiguration(**amounts)
