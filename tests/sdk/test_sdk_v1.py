import sys
import types
from pathlib import Path

import pytest

from runyard.sdk.sdk_v1 import VERSION, late_names


def test_the_version_is_one_of_sdk_v1() -> None:
    major, *rest = VERSION.split(".")
    assert major == "1"
    assert all(part.isdigit() for part in rest)


def test_a_name_is_loaded_once_and_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("some_module")
    monkeypatch.setitem(sys.modules, "some_module", module)
    module.__getattr__ = late_names("some_module", {"Path": "pathlib"}, {"Later"})  # type: ignore[method-assign]
    assert "Path" not in vars(module)
    assert module.Path is Path
    assert vars(module)["Path"] is Path
    assert not hasattr(module, "Later")
    with pytest.raises(AttributeError, match=r"some_module\.Later .* does not have it yet"):
        module.Later  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'Never'"):
        module.Never  # noqa: B018
