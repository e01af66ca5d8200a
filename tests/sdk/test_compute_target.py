import pytest

from runyard.sdk.compute_target import AbstractComputeTarget, LocalTarget
from runyard.sdk.exceptions import ComputeTargetException


def test_the_local_target() -> None:
    target = LocalTarget()
    assert (target.type, target.name) == ("local", "local")
    assert isinstance(target, AbstractComputeTarget)


def test_read_from_a_dictionary() -> None:
    assert isinstance(AbstractComputeTarget.deserialize_from_dict("here", {"type": "local"}), LocalTarget)
    with pytest.raises(ComputeTargetException, match=r"'far'.*'remote'"):
        AbstractComputeTarget.deserialize_from_dict("far", {"type": "remote"})
