from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from runyard.cli.commands.du import space

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def test_space_counts_what_is_linked_once_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "built").mkdir()
    big = tmp_path / "cache" / "package"
    big.write_bytes(os.urandom(1_000_000))
    os.link(big, tmp_path / "built" / "package")
    (tmp_path / "built" / "away").symlink_to("/usr")
    (tmp_path / "built" / "own").write_bytes(os.urandom(300_000))
    seen: set[tuple[int, int]] = set()
    assert 1_000_000 <= space(tmp_path / "cache", seen) < 1_100_000
    assert 300_000 <= space(tmp_path / "built", seen) < 400_000
    assert space(tmp_path / "nothing", seen) == 0


def test_a_home_without_a_server_is_looked_at_and_none_is_started(fresh_shell: Shell) -> None:
    built = fresh_shell.home / "environments" / "x"
    built.mkdir(parents=True)
    (built / "package").write_bytes(os.urandom(700_000))
    removed = fresh_shell.home / "objects" / "removed"
    removed.mkdir(parents=True)
    (removed / "x").write_bytes(os.urandom(900_000))
    cache = fresh_shell.folder / "uv"
    cache.mkdir()
    os.link(built / "package", cache / "package")
    told = fresh_shell.call("du", UV_CACHE_DIR=str(cache)).stdout
    lines = {line.split()[2]: line for line in told.splitlines() if "B  " in line}
    assert "uv cache clean" in lines[str(cache)]
    assert "70" in lines[str(cache)].split()[0]
    assert lines["environments"].split()[1] in ("B", "kB"), "the cache has the package, and keeps it"
    assert lines["objects/removed"].split()[0].startswith("90"), "what waits is told apart"
    assert lines["objects"].split()[1] in ("B", "kB")
    assert float(lines["objects"].split()[0]) < 100
    assert "no server runs" in told
    assert not (fresh_shell.home / "server.json").exists()


def test_experiments_are_told_largest_first(shell: Shell) -> None:
    script = "import os; open('outputs/a', 'wb').write(os.urandom(5_000_000))"
    large, small = shell.completed(script), shell.completed()
    told = shell.json("du")
    names = [each["name"] for each in told["experiments"]]
    assert names.index(large["experiment"]) < names.index(small["experiment"])
    found = told["experiments"][names.index(large["experiment"])]
    assert (found["runs"], found["workspace"]) == (1, "local")
    assert 5_000_000 <= found["bytes"] < 5_100_000
    places = {place["name"]: place["size"] for place in told["places"]}
    assert places["objects"] >= 5_000_000
    assert places["runyard.db"] > 0
    plain = shell.call("du", "--limit", "1").stdout
    assert "EXPERIMENT" in plain
    assert "smaller experiment" in plain
