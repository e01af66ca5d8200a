"""If these fail, somebody whose runs wait for Ray is not told what to install."""

from __future__ import annotations

import importlib.util

import pytest

from runyard.contracts.compute import Target
from runyard.engines.ray.diagnosis import diagnose


def test_ray_is_missed_by_those_who_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert list(diagnose([])) == []
    assert list(diagnose([Target("far", "ray", options={"ray_python": "/opt/ray/bin/python"})])) == []
    (missing,) = diagnose([Target("my-ray", "ray")])
    assert (missing.ok, "my-ray" in missing.message, "pip install" in missing.help) == (False, True, True)
