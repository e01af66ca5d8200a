"""GPUs, where there are none: a library with the driver's interface, made here, stands for it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from runyard.node.observing import gpus

LIBRARY = r"""
#include <string.h>
typedef struct { unsigned gpu, memory; } utilization;
typedef struct { unsigned long long total, free, used; } memory;
typedef struct { unsigned pid; unsigned long long memory; unsigned gpu, compute; } process;
static int devices[2];
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) { *device = &devices[index]; return 0; }
int nvmlDeviceGetUtilizationRates(void *device, utilization *found) {
    if (device == &devices[1]) return 3;  /* not supported */
    found->gpu = 87; found->memory = 40; return 0;
}
int nvmlDeviceGetMemoryInfo(void *device, memory *found) {
    found->total = 8ULL << 30; found->used = 3ULL << 30; found->free = 5ULL << 30; return 0;
}
int nvmlDeviceGetPowerUsage(void *device, unsigned *found) { *found = 120500; return 0; }
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *found) { *found = 61; return 0; }
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process *found) {
    memset(found, 0, 2 * sizeof(process));
    found[0].pid = 41; found[0].memory = 1ULL << 30;
    found[1].pid = 42; found[1].memory = 2ULL << 30;
    *count = 2; return 0;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler, which makes the library that stands for the driver's")
    folder = tmp_path_factory.mktemp("nvml")
    (folder / "nvml.c").write_text(LIBRARY)
    made = folder / "libnvidia-ml.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", made, folder / "nvml.c"], check=True)
    return str(made)


def test_a_fake_of_the_drivers_library_is_read(library: str) -> None:
    read = gpus.find(signs=["/"], library=library)
    assert read is not None
    found = read({42})
    assert found == {
        "gpu0/busy": 87.0,
        "gpu0/memory": 3.0 * (1 << 30),
        "gpu0/memory limit": 8.0 * (1 << 30),
        "gpu0/power": 120.5,
        "gpu0/temperature": 61.0,
        "gpu0/memory of run": 2.0 * (1 << 30),
        "gpu1/memory": 3.0 * (1 << 30),
        "gpu1/memory limit": 8.0 * (1 << 30),
        "gpu1/power": 120.5,
        "gpu1/temperature": 61.0,
        "gpu1/memory of run": 2.0 * (1 << 30),
    }


def test_a_fake_of_the_command_is_asked_where_the_library_is_none(tmp_path: Path) -> None:
    command = tmp_path / "nvidia-smi"
    command.write_text("#!/bin/sh\necho '0, 55, 1024, 2048, [N/A], 50'\necho 'No devices were found'\n")
    command.chmod(0o755)
    read = gpus.find(signs=["/"], library=str(tmp_path / "missing.so"), command=str(command))
    assert read is not None
    assert read(()) == {
        "gpu0/busy": 55.0,
        "gpu0/memory": float(1 << 30),
        "gpu0/memory limit": float(2 << 30),
        "gpu0/temperature": 50.0,
    }
    assert read(()) == {}, "it is not asked at every look"


def test_nothing_is_loaded_or_started_without_a_driver(tmp_path: Path) -> None:
    assert gpus.find(signs=[str(tmp_path / "none")], library="/nowhere", command="/bin/false") is None
    assert gpus.find(signs=["/"], library="/nowhere", command="no-such-command-here") is None
