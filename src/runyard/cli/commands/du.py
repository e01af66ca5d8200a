"""`runyard du`: disk usage on this machine and by experiment, and how to free it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from stat import S_ISDIR
from typing import TYPE_CHECKING, Annotated

from runyard.cli import package_caches
from runyard.cli.options import JsonOption
from runyard.cli.output import formatting, screen
from runyard.cli.parameters import Option
from runyard.contracts import home as homes

if TYPE_CHECKING:
    from runyard.contracts.documents import ExperimentUsage, ModelUsage

SECONDS = 60.0
"""How long a server may take to add up the sizes of its experiments."""

REMOVED = "objects/removed"

WHAT = {
    "objects": "files, logs and code of runs, and models: `runyard rm` and `runyard models rm` delete them",
    "environments": "built environments: `runyard env gc` removes those not used; not counted is what uv's cache has",
    "runyard.db": "the database: runs and their metrics",
    "growing": "logs that are still written",
    "runs": "folders of runs that are under way",
    "telemetry": "journals of interactive runs",
    "sdk": "what is put in reach of a run's processes",
    "server.log": "what the server has to say",
    "services": "what the processes of services share",
    "secrets": "secrets of workspaces, and credentials of datastores",
    "cache": "may be deleted at any time",
}
"""What the folders and files of a home are for. Others are listed by name."""


@dataclass(frozen=True)
class Place:
    name: str
    path: str
    size: int
    what: str


def du(
    limit: Annotated[int, Option("--limit", "-n", min=1, help="How many experiments at most.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show where the space is: in the home folder of this machine, in uv's cache, in experiments and models."""
    home = homes.home()
    places = sorted(_places(home), key=lambda place: -place.size)
    experiments, models, why_not = _on_the_server(home)
    if as_json:
        screen.document(
            {
                "home": str(home),
                "places": [asdict(place) for place in places],
                "experiments": experiments,
                "models": models,
            }
        )
        return
    screen.table(
        ("SIZE", "WHERE", "WHAT"), [(formatting.size(place.size), _where(place, home), place.what) for place in places]
    )
    print(f"\n{formatting.size(sum(place.size for place in places))} together; {home} is the home folder.")
    if experiments is None:
        print(f"Nothing is known of the experiments: {why_not}")
    if experiments:
        print()
        screen.table(
            ("EXPERIMENT", "RUNS", "SIZE", "WORKSPACE"),
            [
                (each["name"], f"{each['runs']:,}", formatting.size(each["bytes"]), each["workspace"])
                for each in experiments[:limit]
            ],
        )
        if len(experiments) > limit:
            print(f"and {formatting.count(len(experiments) - limit, 'smaller experiment')}")
        print(f"Next: {formatting.program()} ls --sort largest")
    if models:
        print()
        screen.table(
            ("MODEL", "VERSIONS", "SIZE", "WORKSPACE"),
            [
                (each["name"], f"{each['versions']:,}", formatting.size(each["bytes"]), each["workspace"])
                for each in models[:limit]
            ],
        )
        if len(models) > limit:
            print(f"and {formatting.count(len(models) - limit, 'smaller model')}")


def _where(place: Place, home: Path) -> str:
    return place.name if Path(place.path).is_relative_to(home) else place.path


def _on_the_server(home: Path) -> tuple[list[ExperimentUsage] | None, list[ModelUsage] | None, str]:
    """The sizes of the experiments and of the models, the largest first; or None, and why they are not known. No server
    is started: that could fail on a full disk."""
    from runyard.cli import api
    from runyard.client.http import ClientProblem

    server = api.connect_if_running(home, timeout=SECONDS)
    if server is None:
        return None, None, "no server runs. `runyard up` starts it."
    try:
        return (*server.all_usage(), "")
    except ClientProblem as problem:
        return None, None, f"{problem.title} {problem.help}"


def _places(home: Path) -> Iterator[Place]:
    """The entries of the home folder, and uv's cache. What is linked to several places counts in the first one."""
    seen: set[tuple[int, int]] = set()
    cache = package_caches.uv_cache()
    if cache is not None and Path(cache.folder).is_dir():
        free = f"packages, kept for the next environment: `{cache.free_with}` frees it"
        yield Place("uv's cache", cache.folder, space(Path(cache.folder), seen), free)
    if not home.is_dir():
        return
    database = sorted(home.glob("runyard.db*"))
    if database:
        size = sum(space(path, seen) for path in database)
        yield Place("runyard.db", str(home / "runyard.db"), size, WHAT["runyard.db"])
    aside = home / REMOVED
    waits = space(aside, seen)
    if waits:
        yield Place(REMOVED, str(aside), waits, "what nothing uses any more: it is removed for good after some days")
    small = [path for path in home.iterdir() if path.is_file() and path not in database and path.name not in WHAT]
    yield Place(
        "other files", str(home / "*"), sum(space(path, seen) for path in small), "the token, locks and the like"
    )
    for path in sorted(home.iterdir()):
        if path not in (*database, *small):
            yield Place(path.name, str(path), space(path, seen, without=aside), WHAT.get(path.name, ""))


def space(path: Path, seen: set[tuple[int, int]], without: Path | None = None) -> int:
    """The bytes on the disk that a file, or a folder with all below it, takes; but for files that were `seen`, and the
    folder `without`."""
    total, left = 0, [str(path)]
    while left:
        place = left.pop()
        if place == str(without):
            continue
        try:
            status = os.lstat(place)
            if S_ISDIR(status.st_mode):
                left += [entry.path for entry in os.scandir(place)]
        except OSError:  # removed meanwhile, or another user's
            continue
        identity = (status.st_dev, status.st_ino)
        if status.st_nlink > 1 and not S_ISDIR(status.st_mode):
            if identity in seen:
                continue
            seen.add(identity)
        total += status.st_blocks * 512
    return total
