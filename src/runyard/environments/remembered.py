"""What programs of this machine have answered: each is asked once, and again when its file has changed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Callable

from runyard.contracts.home import write_private
from runyard.system.json_files import BadFile, read_object


class Remembered:
    """The answers in one file; None remembers nothing. `save` drops those of programs that were removed."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._before = _read(file)
        self._known = dict(self._before)

    def answer(self, program: str, ask: Callable[[], list[str]]) -> list[str]:
        """What the program has answered, or answers now."""
        stamp = _stamp(program)
        known = self._known.get(program)
        if known is None or known[0] != stamp:
            known = self._known[program] = [stamp, *ask()]
        return known[1:]

    def save(self) -> None:
        """A file that cannot be written is no harm: the programs are asked again."""
        current = {program: answer for program, answer in self._known.items() if _stamp(program)}
        if self._file is None or current == self._before:
            return
        try:
            write_private(self._file, json.dumps(current, indent=1))
        except OSError:
            return


def _stamp(program: str) -> str:
    try:
        found = os.stat(program)
    except OSError:
        return ""
    return f"{found.st_mtime_ns}:{found.st_size}"


def _read(file: Path | None) -> dict[str, list[str]]:
    try:
        document = {} if file is None else read_object(file)
    except (OSError, BadFile):
        return {}
    return {
        name: [str(each) for each in answer] for name, answer in document.items() if isinstance(answer, list) and answer
    }
