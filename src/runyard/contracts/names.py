"""The rules for names that users choose. A name becomes a path or a key only after it has passed here."""

from __future__ import annotations

import os
import re
import time
from typing import Iterable

EXPERIMENT = re.compile(r"[a-zA-Z0-9][\w\-]{0,254}", re.ASCII)
WORKSPACE = re.compile(r"[a-zA-Z0-9][\w\-]{2,32}", re.ASCII)
COMPUTE = re.compile(r"[a-zA-Z][\w\-]{1,62}", re.ASCII)
LONGEST_RUN = 200  # a run's id is part of file names, which end at 255 bytes
RUN = re.compile(rf"[a-zA-Z0-9][\w\-.]{{0,{LONGEST_RUN - 1}}}", re.ASCII)

MODEL = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9\-._]{0,254}")

RULES = {
    "experiment": (EXPERIMENT, "1 to 255 letters, digits, '_' or '-', with a letter or digit first"),
    "workspace": (WORKSPACE, "3 to 33 letters, digits, '_' or '-', with a letter or digit first"),
    "compute": (COMPUTE, "2 to 63 letters, digits, '_' or '-', with a letter first"),
    "model": (MODEL, "1 to 255 letters, digits, '-', '_' or '.', with a letter or digit first"),
    "run": (RUN, f"1 to {LONGEST_RUN} letters, digits, '_', '-' or '.', with a letter or digit first"),
}


LONGEST_SHOWN = 300


class BadName(ValueError):
    """A name that breaks its rule; the message has the rule."""


def check(kind: str, name: object) -> str:
    """Return `name` if it follows the rule of its kind.

    >>> check("experiment", "my_experiment")
    'my_experiment'
    """
    pattern, rule = RULES[kind]
    if not isinstance(name, str) or not pattern.fullmatch(name):
        what = "compute target" if kind == "compute" else kind
        raise BadName(f"{shown(name)} is no name for {'an' if kind[0] in 'aeiou' else 'a'} {what}: use {rule}.")
    return name


def submitted_run(experiment: str) -> str:
    """A new id for a submitted run: `<experiment>_<unix seconds>_<8 hex>`, as in SDK v1. An experiment's name may be
    longer than an id; then it is cut."""
    unique = f"_{int(time.time())}_{os.urandom(4).hex()}"
    return experiment[: LONGEST_RUN - len(unique)] + unique


def shown(name: object) -> str:
    """A name as an error repeats it: quoted, and cut where it is long.

    >>> shown("my experiment")
    "'my experiment'"
    """
    text = repr(name[: LONGEST_SHOWN + 1] if isinstance(name, str) else name)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def check_file(name: object) -> str:
    """Return the name of a file in a run's history in its normal form: relative, with '/', inside the folder.

    >>> check_file("./outputs//model.pt")
    'outputs/model.pt'
    """
    if not isinstance(name, str) or not name.strip() or "\0" in name:
        raise BadName(f"{shown(name)} is no name for a file of a run: use a relative path such as 'outputs/model.pt'.")
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    if name.startswith(("/", "\\")) or ".." in parts or not parts:
        raise BadName(
            f"{shown(name)} is no name for a file of a run: use a relative path without '..', such as "
            "'outputs/model.pt'."
        )
    return "/".join(parts)


def on_disk(files: Iterable[str]) -> dict[str, str]:
    """The paths of a run's files once they are on a disk. One whose name is also that of a folder, which a
    history may hold and a disk may not, gets a `~` at its end.

    >>> on_disk(["x", "x/y"])
    {'x': 'x~', 'x/y': 'x/y'}
    """
    named = sorted(set(files))
    taken = set(named)
    folders = {""}
    for name in named:
        folder = name.rpartition("/")[0]
        while folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    places: dict[str, str] = {}
    for name in named:
        place = name
        while place in folders or (place != name and place in taken):
            place += "~"
        taken.add(place)
        places[name] = place
    return places
