"""The rules for names that users choose. A name becomes a path or a key only after it has passed here."""

from __future__ import annotations

import re

EXPERIMENT = re.compile(r"[a-zA-Z0-9][\w\-]{0,254}", re.ASCII)
WORKSPACE = re.compile(r"[a-zA-Z0-9][\w\-]{2,32}", re.ASCII)
COMPUTE = re.compile(r"[a-zA-Z][\w\-]{1,62}", re.ASCII)
RUN = re.compile(r"[a-zA-Z0-9][\w\-.]{0,199}", re.ASCII)  # part of file names, which end at 255 bytes

RULES = {
    "experiment": (EXPERIMENT, "1 to 255 letters, digits, '_' or '-', with a letter or digit first"),
    "workspace": (WORKSPACE, "3 to 33 letters, digits, '_' or '-', with a letter or digit first"),
    "compute": (COMPUTE, "2 to 63 letters, digits, '_' or '-', with a letter first"),
    "run": (RUN, "1 to 200 letters, digits, '_', '-' or '.', with a letter or digit first"),
}


LONGEST_SHOWN = 300


class BadName(ValueError):
    """A name that breaks its rule; the text says which rule."""


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


def shown(name: object) -> str:
    """A name as an error repeats it: quoted, and cut where it is long.

    >>> shown("my experiment")
    "'my experiment'"
    """
    text = repr(name[: LONGEST_SHOWN + 1] if isinstance(name, str) else name)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def check_file(name: object) -> str:
    """Return the name of a file in a run's history in its normal form: relative, with '/', with no way out.

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
