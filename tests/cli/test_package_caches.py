from __future__ import annotations

from pathlib import Path

import pytest

from runyard.cli import package_caches
from runyard.environments import tools
from runyard.environments.builder import Built
from runyard.environments.cache import Entry


def entry(builder: str) -> Entry:
    return Entry(key="k", kind="uv", builder=builder, built=Built("python"))


@pytest.fixture
def uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that answers as uv does, with a cache of the test's own."""
    program, folder = tmp_path / "bin" / "uv", tmp_path / "cache"
    program.parent.mkdir()
    folder.mkdir()
    program.write_text(f'#!/bin/sh\ntest "$*" = "cache dir" && echo {folder}\n')
    program.chmod(0o755)
    monkeypatch.setattr(tools, "find", lambda name: program)
    monkeypatch.setenv("PATH", str(tmp_path))
    return program


def test_uv_names_its_cache_and_how_to_free_it(uv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = package_caches.uv_cache()
    assert found == package_caches.PackageCache("uv", str(tmp_path / "cache"), f"{uv} cache clean")
    monkeypatch.setenv("PATH", str(uv.parent))
    again = package_caches.uv_cache()
    assert again is not None
    assert again.free_with == "uv cache clean", "the shell finds it by its name"


def test_a_uv_that_fails_or_is_missing_has_no_cache(uv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uv.write_text("#!/bin/sh\nexit 1\n")
    assert package_caches.uv_cache() is None
    uv.chmod(0o644)
    assert package_caches.uv_cache() is None
    monkeypatch.setattr(tools, "find", lambda name: None)
    assert package_caches.uv_cache() is None


def test_each_builder_has_its_cache(uv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "find_conda", lambda: Path("/opt/bin/micromamba"))
    assert package_caches.of([]) == []
    assert [cache.tool for cache in package_caches.of([entry("uv"), entry("uv")])] == ["uv"]
    found = package_caches.of([entry("conda"), entry("container")])
    assert [(cache.tool, cache.free_with) for cache in found[1:]] == [
        ("conda", "micromamba clean --all"),
        ("the container engine", "docker system prune"),
    ]
