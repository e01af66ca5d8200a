"""The GPUs of a node that a run may use, and how its processes share them."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from typing import Mapping, Sequence

_ANSWERS_WITHIN = 20.0
_LISTED = re.compile(r"GPU (\d+):")


def visible(variables: Mapping[str, str]) -> list[str]:
    """Those of CUDA_VISIBLE_DEVICES, which Slurm and Ray set; otherwise all that nvidia-smi lists.

    >>> visible({"CUDA_VISIBLE_DEVICES": "2,3"})
    ['2', '3']
    """
    chosen = variables.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return list(_listed(variables.get("PATH")))
    names = [name.strip() for name in chosen.split(",")]
    # CUDA itself stops at the first that is none.
    known = next((place for place, name in enumerate(names) if name in ("", "-1", "NoDevFiles")), len(names))
    return names[:known]


def share(gpus: Sequence[str], place: int, processes: int) -> list[str]:
    """The GPUs of one of some processes: an even part, or one that it shares where there are fewer.

    >>> share(["0", "1", "2"], 0, 2), share(["0", "1", "2"], 1, 2)
    (['0', '1'], ['2'])
    >>> share(["0"], 1, 2)
    ['0']
    """
    if len(gpus) < processes:
        return [gpus[place % len(gpus)]] if gpus else []
    each, more = divmod(len(gpus), processes)
    first = place * each + min(place, more)
    return list(gpus[first : first + each + (place < more)])


@functools.lru_cache(maxsize=None)
def _listed(path: str | None) -> tuple[str, ...]:
    program = shutil.which("nvidia-smi", path=path)
    if program is None:
        return ()
    try:
        answer = subprocess.run([program, "-L"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_ANSWERS_WITHIN)
    except (OSError, subprocess.TimeoutExpired):
        return ()  # a driver that hangs: no GPU of it can be used either
    return tuple(_LISTED.findall(answer.stdout.decode("utf-8", "replace"))) if answer.returncode == 0 else ()
