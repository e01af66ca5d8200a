"""What a node runner records of its node and of the processes of its run: the names of these series, and their units.

The part before the slash is what is drawn together. Of a GPU it is `gpu0`, `gpu1`, ... A name is one of a series of the
source `runyard.contracts.journal.SYSTEM`, so a run may log a metric of the same name.
"""

from __future__ import annotations

CPU, CPU_RUN, CORES = "cpu/node", "cpu/run", "cpu/cores"
MEMORY, MEMORY_RUN, MEMORY_LIMIT, MEMORY_PEAK = "memory/node", "memory/run", "memory/limit", "memory/largest process"
DISK_READ, DISK_WRITE = "disk/read", "disk/written"
RUN_READ, RUN_WRITE = "disk/read by run", "disk/written by run"
SPACE_FREE, SPACE_TOTAL = "space/free", "space/total"
RECEIVED, SENT = "network/received", "network/sent"
PROCESSES = "processes/run"

GPU = "gpu"
GPU_BUSY, GPU_MEMORY, GPU_TOTAL, GPU_RUN = "busy", "memory", "memory limit", "memory of run"
GPU_POWER, GPU_HEAT = "power", "temperature"

_CORES, _BYTES, _RATE, _COUNT = "cores", "bytes", "bytes/s", "count"
_UNITS = {"cpu": _CORES, "memory": _BYTES, "disk": _RATE, "space": _BYTES, "network": _RATE, "processes": _COUNT}
_OF_GPU = {GPU_BUSY: "%", GPU_POWER: "W", GPU_HEAT: "°C"}


def gpu(number: int, name: str) -> str:
    """
    >>> gpu(0, GPU_BUSY)
    'gpu0/busy'
    """
    return f"{GPU}{number}/{name}"


def unit(name: str) -> str:
    """What the numbers of a series count; empty for a name that is none of these.

    >>> unit(CPU), unit("gpu3/power"), unit("gpu3/memory"), unit("loss")
    ('cores', 'W', 'bytes', '')
    """
    group, slash, what = name.partition("/")
    if not slash:
        return ""
    if group.startswith(GPU) and group[len(GPU) :].isdigit():
        return _OF_GPU.get(what, _BYTES)
    return _UNITS.get(group, "")
