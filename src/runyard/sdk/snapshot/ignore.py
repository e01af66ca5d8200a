"""Which paths of a folder stay out of its snapshot.

One file rules: `.amlignore`, or else `.gitignore`, with git's rules. Where there is neither, Azure takes everything;
here `.git`, `__pycache__` and `.ipynb_checkpoints` stay out, because a run has no use for them and they change with
every command (`.amlignore`, even an empty one, overrides this).
"""

from __future__ import annotations

from pathlib import Path
from typing import Callable

from runyard.sdk.exceptions import SnapshotException

FILES = (".amlignore", ".gitignore")
NEVER_WANTED = frozenset({".git", "__pycache__", ".ipynb_checkpoints"})

Ignored = Callable[[str], bool]
"""Whether a path, relative to the folder and with '/' (a folder's ends in one), stays out."""


def ignored_by(folder: Path) -> Ignored:
    for name in FILES:
        try:
            text = (folder / name).read_text("utf-8", "surrogateescape")
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            continue
        except OSError as error:
            raise SnapshotException(
                f"Runyard cannot read {folder / name} ({error.strerror}), so it does not know what to leave out of the "
                "snapshot. Make the file readable or remove it.",
                inner_exception=error,
            ) from error
        return _by_patterns(folder / name, text)
    return _never_wanted


def _never_wanted(path: str) -> bool:
    return path.endswith("/") and path[:-1].rpartition("/")[2] in NEVER_WANTED


def _by_patterns(file: Path, text: str) -> Ignored:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        return lambda path: False
    try:
        import pathspec
    except ImportError as error:
        raise SnapshotException(
            f"{file} needs the package pathspec, which this interpreter does not have. Install it (`pip install "
            "pathspec`), or remove the file to send the whole folder.",
            inner_exception=error,
        ) from error
    try:
        spec = pathspec.GitIgnoreSpec.from_lines(lines)
    except ValueError as error:
        raise SnapshotException(f"{file} holds a pattern that git refuses: {error}", inner_exception=error) from error
    matches: Ignored = spec.match_file
    if file.name == ".gitignore":  # git itself never takes its own folder, whatever the file lists
        return lambda path: path == ".git/" or path.endswith("/.git/") or matches(path)
    return matches
