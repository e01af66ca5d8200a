"""Azure's published sizes of virtual machines: the cores, memory and GPUs of each `vm_size`.

Sizes are looked up in any case (`STANDARD_NC6`, `Standard_NC6`). Families whose numbers follow a rule are written as
the rule, the others number by number. A part of a GPU counts as one: it is one device to the process that uses it.
"""

from __future__ import annotations

import difflib
import functools
from typing import Iterable, Iterator, Mapping, NamedTuple

from runyard.contracts.compute import Resources

PREFIX = "Standard_"


class Size(NamedTuple):
    name: str
    cores: int
    memory_mb: int
    gpus: int = 0
    gpu: str = ""  # the kind of the GPUs

    @property
    def resources(self) -> Resources:
        return Resources(self.cores, self.memory_mb, self.gpus)

    def __str__(self) -> str:
        gpus = f", {self.gpus} x {self.gpu}" if self.gpus else ""
        return f"{self.cores} cores, {self.memory_mb / 1024:g} GiB{gpus}"


class UnknownSize(ValueError):
    """A name that Azure does not have; the message names similar ones."""


def find(vm_size: str) -> Size | None:
    """The size of that name, in whatever case it is written.

    >>> find("standard_nc24rs_v3")
    Size(name='Standard_NC24rs_v3', cores=24, memory_mb=458752, gpus=4, gpu='V100')
    """
    name = vm_size.strip().lower()
    return _sizes().get(name[: -len("_promo")] if name.endswith("_promo") else name)


def known(vm_size: str) -> bool:
    return find(vm_size) is not None


def resources(vm_size: str) -> Resources:
    """What one node of a target must offer. No size requires nothing.

    >>> resources("STANDARD_NC6")
    Resources(cores=6, memory_mb=57344, gpus=1)
    """
    if not vm_size:
        return Resources()
    size = find(vm_size)
    if size is None:
        near = suggest(vm_size)
        meant = f"Sizes with names like it: {', '.join(near)}." if near else "One is called Standard_NC6, for example."
        raise UnknownSize(f"{vm_size!r} is none of Azure's sizes of virtual machines. {meant}")
    return size.resources


def suggest(vm_size: str, most: int = 4) -> list[str]:
    """Sizes whose names look like this one, the nearest first.

    >>> suggest("NC6")[0]
    'Standard_NC6'
    """
    sizes = _sizes()
    wanted = vm_size.strip().lower()
    if not wanted.startswith(PREFIX.lower()):
        wanted = PREFIX.lower() + wanted
    # All names begin alike: only the rest shows how similar two are.
    tails = {key[len(PREFIX) :]: size.name for key, size in sizes.items()}
    near = difflib.get_close_matches(wanted[len(PREFIX) :], list(tails), most, 0.6)
    return [tails[tail] for tail in near]


def all_sizes() -> list[Size]:
    """Every size that is known here, by name."""
    return sorted(_sizes().values())


@functools.lru_cache(maxsize=None)
def _sizes() -> Mapping[str, Size]:
    return {size.name.lower(): size for size in (*_by_rule(), *_by_table(), *_with_fewer_cores(), *_with_gpus())}


def _size(name: str, cores: int, gib: float, gpus: int = 0, gpu: str = "") -> Size:
    return Size(PREFIX + name, cores, int(gib * 1024), gpus, gpu)


_SMALL = (2, 4, 8, 16, 32, 48, 64)
_WITH_20 = (2, 4, 8, 16, 20, 32, 48)

_RULES: tuple[tuple[Iterable[str], Iterable[int], float], ...] = (
    # names, in which {} is the number of cores; the numbers; GiB per core
    (("D{}_v3", "D{}s_v3"), _SMALL, 4),
    (("D{}_v4", "D{}s_v4", "D{}d_v4", "D{}ds_v4"), _SMALL, 4),
    (("D{}a_v4", "D{}as_v4"), (*_SMALL, 96), 4),
    (("D{}_v5", "D{}s_v5", "D{}d_v5", "D{}ds_v5", "D{}as_v5", "D{}ads_v5"), (*_SMALL, 96), 4),
    (("D{}ls_v5", "D{}lds_v5"), (*_SMALL, 96), 2),
    (("D{}s_v6", "D{}ds_v6"), (*_SMALL, 96, 128, 192), 4),
    (("D{}as_v6", "D{}ads_v6"), (*_SMALL, 96), 4),
    (("E{}_v3", "E{}s_v3"), _WITH_20, 8),
    (("E{}_v4", "E{}s_v4", "E{}d_v4", "E{}ds_v4"), _WITH_20, 8),
    (("E{}a_v4", "E{}as_v4"), (*_WITH_20, 64), 8),
    (("E{}_v5", "E{}s_v5", "E{}d_v5", "E{}ds_v5", "E{}as_v5", "E{}ads_v5"), (*_WITH_20, 64), 8),
    (("F{}", "F{}s"), (1, 2, 4, 8, 16), 2),
    (("F{}s_v2",), (*_SMALL, 72), 2),
    (("L{}s",), (4, 8, 16, 32), 8),
    (("L{}s_v2", "L{}s_v3", "L{}as_v3"), (8, 16, 32, 48, 64, 80), 8),
    (("A{}_v2",), (1, 2, 4, 8), 2),
    (("A{}m_v2",), (2, 4, 8), 8),
)


def _by_rule() -> Iterator[Size]:
    for forms, numbers, gib_per_core in _RULES:
        for form in forms:
            for cores in numbers:
                yield _size(form.format(cores), cores, cores * gib_per_core)


_D = {1: (1, 3.5), 2: (2, 7), 3: (4, 14), 4: (8, 28), 11: (2, 14), 12: (4, 28), 13: (8, 56), 14: (16, 112)}
_D_V2: Mapping[int, tuple[int, float]] = {**_D, 5: (16, 56), 15: (20, 140)}
_G = {1: (2, 28), 2: (4, 56), 3: (8, 112), 4: (16, 224), 5: (32, 448)}

_TABLE = """
    B1s 1 1  B1ms 1 2  B2s 2 4  B2ms 2 8  B4ms 4 16  B8ms 8 32  B12ms 12 48  B16ms 16 64  B20ms 20 80
    E64_v3 64 432  E64s_v3 64 432  E64i_v3 64 432  E64is_v3 64 432
    E64_v4 64 504  E64s_v4 64 504  E64d_v4 64 504  E64ds_v4 64 504
    E96a_v4 96 672  E96as_v4 96 672
    E96_v5 96 672  E96s_v5 96 672  E96d_v5 96 672  E96ds_v5 96 672  E96as_v5 96 672  E96ads_v5 96 672
    H8 8 56  H16 16 112  H8m 8 112  H16m 16 224  H16r 16 112  H16mr 16 224
    M8ms 8 218.75  M16ms 16 437.5  M32ts 32 192  M32ls 32 256  M32ms 32 875
    M64 64 1024  M64s 64 1024  M64ls 64 512  M64m 64 1792  M64ms 64 1792
    M128 128 2048  M128s 128 2048  M128m 128 3892  M128ms 128 3892
    M208s_v2 208 2850  M208ms_v2 208 5700  M416s_v2 416 5700  M416ms_v2 416 11400
"""
"""Name, cores, GiB."""


def _by_table() -> Iterator[Size]:
    for families, table in ((("D{}", "DS{}"), _D), (("D{}_v2", "DS{}_v2"), _D_V2), (("G{}", "GS{}"), _G)):
        for family in families:
            for number, (cores, gib) in table.items():
                yield _size(family.format(number), cores, gib)
    for name, number_of_cores, memory in _rows(_TABLE, 3):
        yield _size(name, int(number_of_cores), float(memory))


_HPC = (
    # name, in which {} is the number of cores; all of them; GiB; how many may be left on
    ("HB{}rs", 60, 228, (15, 30, 45)),
    ("HB{}rs_v2", 120, 456, (16, 32, 64, 96)),
    ("HB{}rs_v3", 120, 448, (16, 32, 64, 96)),
    ("HB{}rs_v4", 176, 768, (24, 48, 96, 144)),
    ("HC{}rs", 44, 352, (16, 32)),
    ("HX{}rs", 176, 1408, (24, 48, 96, 144)),
)


def _with_fewer_cores() -> Iterator[Size]:
    """Machines for HPC, whole and with some of their cores turned off: `HB120-16rs_v3` has 16 of 120."""
    for form, cores, gib, fewer in _HPC:
        yield _size(form.format(cores), cores, gib)
        for left in fewer:
            yield _size(form.format(f"{cores}-{left}"), left, gib)


_GPUS = """
    NC6 6 56 1 K80  NC12 12 112 2 K80  NC24 24 224 4 K80  NC24r 24 224 4 K80
    NC6s_v2 6 112 1 P100  NC12s_v2 12 224 2 P100  NC24s_v2 24 448 4 P100  NC24rs_v2 24 448 4 P100
    NC6s_v3 6 112 1 V100  NC12s_v3 12 224 2 V100  NC24s_v3 24 448 4 V100  NC24rs_v3 24 448 4 V100
    NC4as_T4_v3 4 28 1 T4  NC8as_T4_v3 8 56 1 T4  NC16as_T4_v3 16 110 1 T4  NC64as_T4_v3 64 440 4 T4
    NC24ads_A100_v4 24 220 1 A100  NC48ads_A100_v4 48 440 2 A100  NC96ads_A100_v4 96 880 4 A100
    NC40ads_H100_v5 40 320 1 H100  NC80adis_H100_v5 80 640 2 H100  NCC40ads_H100_v5 40 320 1 H100
    ND6s 6 112 1 P40  ND12s 12 224 2 P40  ND24s 24 448 4 P40  ND24rs 24 448 4 P40
    ND40s_v2 40 672 8 V100  ND40rs_v2 40 672 8 V100
    ND96asr_v4 96 900 8 A100  ND96asr_A100_v4 96 900 8 A100  ND96amsr_A100_v4 96 1900 8 A100
    ND96is_H100_v5 96 1900 8 H100  ND96isr_H100_v5 96 1900 8 H100  ND96isr_H200_v5 96 1850 8 H200
    ND96is_MI300X_v5 96 1850 8 MI300X  ND96isr_MI300X_v5 96 1850 8 MI300X
    NV6 6 56 1 M60  NV12 12 112 2 M60  NV24 24 224 4 M60
    NV6s_v2 6 112 1 M60  NV12s_v2 12 224 2 M60  NV24s_v2 24 448 4 M60
    NV12s_v3 12 112 1 M60  NV24s_v3 24 224 2 M60  NV48s_v3 48 448 4 M60
    NV4as_v4 4 14 1 MI25  NV8as_v4 8 28 1 MI25  NV16as_v4 16 56 1 MI25  NV32as_v4 32 112 1 MI25
    NV6ads_A10_v5 6 55 1 A10  NV12ads_A10_v5 12 110 1 A10  NV18ads_A10_v5 18 220 1 A10
    NV36ads_A10_v5 36 440 1 A10  NV36adms_A10_v5 36 880 1 A10  NV72ads_A10_v5 72 880 2 A10
"""
"""Name, cores, GiB, GPUs, the kind of GPU."""


def _with_gpus() -> Iterator[Size]:
    for name, cores, gib, gpus, gpu in _rows(_GPUS, 5):
        yield _size(name, int(cores), float(gib), int(gpus), gpu)


def _rows(table: str, columns: int) -> Iterator[list[str]]:
    cells = table.split()
    for start in range(0, len(cells), columns):
        yield cells[start : start + columns]
