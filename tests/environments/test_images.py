from __future__ import annotations

from pathlib import Path

import pytest

from runyard.environments import images
from runyard.environments.builder import Built
from runyard.environments.cache import Cache, Origin


def test_an_environment_whose_engine_is_gone_can_still_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'nobody.sock'}")
    built = Built("python", image="runyard/environment:k1")
    assert images.size(built) == 0
    cache = Cache(tmp_path / "environments")
    cache.build("k1", lambda folder: built, print, lambda: None, Origin("container", "container", "mine"))
    cache.remove("k1")
    assert cache.entries() == []


def test_an_environment_without_an_image_needs_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "nonsense://")
    images.remove(Built("/usr/bin/python3"))
    assert images.size(Built("/usr/bin/python3")) == 0
