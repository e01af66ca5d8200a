"""The GPUs of this node, where NVIDIA's driver answers: its library through ctypes, else the command `nvidia-smi`."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import time
from typing import Callable, Collection, Dict

from runyard.contracts.observed import load

LIBRARY = "libnvidia-ml.so.1"
COMMAND = "nvidia-smi"
PATIENCE = 5.0  # seconds for the command
COMMAND_EVERY = 15.0
_SIGNS = ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg")  # of a driver; nothing is loaded without one
_MOST_PROCESSES = 256
_NO_ERROR, _TOO_SMALL = 0, 7
_UNKNOWN = (1 << 64) - 1
_QUERY = "index,utilization.gpu,memory.used,memory.total,power.draw,temperature.gpu"

Reading = Callable[[Collection[int]], Dict[str, float]]
"""Gives the numbers of all GPUs by name; it is told which processes are the run's."""


def find(signs: Collection[str] = _SIGNS, library: str = LIBRARY, command: str = COMMAND) -> Reading | None:
    """How to read the GPUs of this node; None where there are none, or nothing that tells of them."""
    if not any(map(os.path.exists, signs)):
        return None
    try:
        return _Nvml(ctypes.CDLL(library)).read
    except (OSError, AttributeError, _Failed):
        path = shutil.which(command)
        return None if path is None else _Command(path).read


class _Failed(Exception):
    """The driver does not answer."""


class _Utilization(ctypes.Structure):
    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]


class _Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


class _Process(ctypes.Structure):
    _fields_ = [
        ("pid", ctypes.c_uint),
        ("memory", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    ]


class _Nvml:
    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        count = ctypes.c_uint()
        if library.nvmlInit_v2() != _NO_ERROR or library.nvmlDeviceGetCount_v2(ctypes.byref(count)) != _NO_ERROR:
            raise _Failed
        self._devices = []
        for number in range(count.value):
            device = ctypes.c_void_p()
            if library.nvmlDeviceGetHandleByIndex_v2(number, ctypes.byref(device)) == _NO_ERROR:
                self._devices.append((number, device))

    def read(self, ours: Collection[int]) -> dict[str, float]:
        found: dict[str, float] = {}
        for number, device in self._devices:
            for name, value in self._of_device(device, ours).items():
                found[load.gpu(number, name)] = value
        return found

    def _of_device(self, device: ctypes.c_void_p, ours: Collection[int]) -> dict[str, float]:
        found: dict[str, float] = {}
        busy, memory = _Utilization(), _Memory()
        if self._library.nvmlDeviceGetUtilizationRates(device, ctypes.byref(busy)) == _NO_ERROR:
            found[load.GPU_BUSY] = float(busy.gpu)
        if self._library.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)) == _NO_ERROR:
            found[load.GPU_MEMORY], found[load.GPU_TOTAL] = float(memory.used), float(memory.total)
        number = ctypes.c_uint()
        if self._library.nvmlDeviceGetPowerUsage(device, ctypes.byref(number)) == _NO_ERROR:
            found[load.GPU_POWER] = number.value / 1000
        if self._library.nvmlDeviceGetTemperature(device, 0, ctypes.byref(number)) == _NO_ERROR:
            found[load.GPU_HEAT] = float(number.value)
        taken = self._taken(device, ours)
        if taken is not None:
            found[load.GPU_RUN] = float(taken)
        return found

    def _taken(self, device: ctypes.c_void_p, ours: Collection[int]) -> int | None:
        """The memory that the run's processes hold of one GPU. In a container the driver may know them by other ids."""
        ask = getattr(self._library, "nvmlDeviceGetComputeRunningProcesses_v3", None)
        if ask is None:
            return None
        count, processes = ctypes.c_uint(_MOST_PROCESSES), (_Process * _MOST_PROCESSES)()
        if ask(device, ctypes.byref(count), processes) not in (_NO_ERROR, _TOO_SMALL):
            return None
        some = processes[: min(count.value, _MOST_PROCESSES)]
        return sum(int(each.memory) for each in some if each.pid in ours and each.memory != _UNKNOWN)


class _Command:
    """It takes much longer than the library, so it is asked seldom; in between there are no numbers."""

    def __init__(self, path: str) -> None:
        self._path, self._next = path, 0.0

    def read(self, ours: Collection[int]) -> dict[str, float]:
        if time.monotonic() < self._next:
            return {}
        self._next = time.monotonic() + COMMAND_EVERY
        return _from_command(self._path)


def _from_command(path: str) -> dict[str, float]:
    try:
        asked = subprocess.run(
            [path, f"--query-gpu={_QUERY}", "--format=csv,noheader,nounits"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE,
            text=True,
            errors="replace",
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return from_lines(asked.stdout)


def from_lines(text: str) -> dict[str, float]:
    """
    >>> from_lines("0, 93, 2048, 8192, 120.5, [N/A]")["gpu0/memory"]
    2147483648.0
    """
    found: dict[str, float] = {}
    names = (load.GPU_BUSY, load.GPU_MEMORY, load.GPU_TOTAL, load.GPU_POWER, load.GPU_HEAT)
    for line in text.splitlines():
        number, *fields = (field.strip() for field in line.split(","))
        if not number.isdigit():
            continue
        for name, field in zip(names, fields):
            try:
                value = float(field)
            except ValueError:
                continue  # "[N/A]"
            megabytes = name in (load.GPU_MEMORY, load.GPU_TOTAL)
            found[load.gpu(int(number), name)] = value * (1 << 20) if megabytes else value
    return found
