"""If these fail, a run asks its cluster for another machine than its author meant."""

from __future__ import annotations

import pytest

from runyard.contracts import vm_sizes
from runyard.contracts.compute import Resources

GIB = 1024


@pytest.mark.parametrize(
    ("name", "cores", "gib", "gpus", "gpu"),
    [
        ("STANDARD_NC6", 6, 56, 1, "K80"),
        ("Standard_NC24r", 24, 224, 4, "K80"),
        ("Standard_NC12s_v2", 12, 224, 2, "P100"),
        ("Standard_NC24rs_v3", 24, 448, 4, "V100"),
        ("Standard_NC16as_T4_v3", 16, 110, 1, "T4"),
        ("Standard_NC64as_T4_v3", 64, 440, 4, "T4"),
        ("Standard_NC96ads_A100_v4", 96, 880, 4, "A100"),
        ("Standard_NC80adis_H100_v5", 80, 640, 2, "H100"),
        ("Standard_ND24rs", 24, 448, 4, "P40"),
        ("Standard_ND40rs_v2", 40, 672, 8, "V100"),
        ("Standard_ND96asr_v4", 96, 900, 8, "A100"),
        ("Standard_ND96amsr_A100_v4", 96, 1900, 8, "A100"),
        ("Standard_ND96isr_H200_v5", 96, 1850, 8, "H200"),
        ("Standard_NV6", 6, 56, 1, "M60"),
        ("Standard_NV48s_v3", 48, 448, 4, "M60"),
        ("Standard_NV36ads_A10_v5", 36, 440, 1, "A10"),
        ("standard_d2_v2", 2, 7, 0, ""),
        ("Standard_D13_v2", 8, 56, 0, ""),
        ("Standard_DS3_v2", 4, 14, 0, ""),
        ("Standard_DS12_v2", 4, 28, 0, ""),
        ("Standard_DS15_v2", 20, 140, 0, ""),
        ("Standard_D4s_v3", 4, 16, 0, ""),
        ("Standard_D64_v3", 64, 256, 0, ""),
        ("Standard_D16ds_v4", 16, 64, 0, ""),
        ("Standard_D96as_v4", 96, 384, 0, ""),
        ("Standard_D32s_v5", 32, 128, 0, ""),
        ("Standard_D192s_v6", 192, 768, 0, ""),
        ("Standard_E4s_v3", 4, 32, 0, ""),
        ("Standard_E64_v3", 64, 432, 0, ""),
        ("Standard_E64ds_v4", 64, 504, 0, ""),
        ("Standard_E96s_v5", 96, 672, 0, ""),
        ("Standard_F16s", 16, 32, 0, ""),
        ("Standard_F72s_v2", 72, 144, 0, ""),
        ("Standard_H16mr", 16, 224, 0, ""),
        ("Standard_HB60rs", 60, 228, 0, ""),
        ("Standard_HB120rs_v2", 120, 456, 0, ""),
        ("Standard_HB120-16rs_v3", 16, 448, 0, ""),
        ("Standard_HB176rs_v4", 176, 768, 0, ""),
        ("Standard_HC44rs", 44, 352, 0, ""),
        ("Standard_L8s_v2", 8, 64, 0, ""),
        ("Standard_M8ms", 8, 218.75, 0, ""),
        ("Standard_M128ms", 128, 3892, 0, ""),
        ("Standard_A4_v2", 4, 8, 0, ""),
        ("Standard_B2ms", 2, 8, 0, ""),
    ],
)
def test_the_numbers_are_those_that_azure_publishes(name: str, cores: int, gib: float, gpus: int, gpu: str) -> None:
    size = vm_sizes.find(name)
    assert size is not None
    assert size.name.lower() == name.lower()
    assert size[1:] == (cores, int(gib * GIB), gpus, gpu)
    assert vm_sizes.resources(name) == Resources(cores, int(gib * GIB), gpus)


def test_case_blanks_and_promotions_do_not_matter() -> None:
    for name in ("STANDARD_NC6", "standard_nc6", "Standard_NC6", " Standard_NC6 ", "STANDARD_NC6_PROMO"):
        assert vm_sizes.known(name)
        assert vm_sizes.resources(name).gpus == 1


def test_no_size_asks_for_nothing() -> None:
    assert vm_sizes.resources("") == Resources()
    assert not vm_sizes.known("")


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("STANDARD_NC7", "Standard_NC6"),
        ("NC24rs_v3", "Standard_NC24rs_v3"),
        ("Standard_D3v2", "Standard_D3_v2"),
        ("Standard_ND40rs-v2", "Standard_ND40rs_v2"),
    ],
)
def test_an_unknown_size_is_refused_with_names_like_it(wrong: str, meant: str) -> None:
    assert vm_sizes.suggest(wrong)[0] == meant
    with pytest.raises(vm_sizes.UnknownSize, match=f"'{wrong}' is none of Azure's sizes.*{meant}"):
        vm_sizes.resources(wrong)


def test_a_size_like_no_other_is_refused_with_an_example() -> None:
    assert vm_sizes.suggest("a big one, please") == []
    with pytest.raises(vm_sizes.UnknownSize, match="Standard_NC6"):
        vm_sizes.resources("a big one, please")


def test_every_size_makes_sense() -> None:
    sizes = vm_sizes.all_sizes()
    assert len({size.name.lower() for size in sizes}) == len(sizes) > 400
    for size in sizes:
        assert size.name.startswith("Standard_")
        assert size.cores > 0
        assert size.memory_mb >= GIB
        assert bool(size.gpus) == bool(size.gpu) == size.name.startswith("Standard_N"), size


def test_a_size_in_words() -> None:
    assert str(vm_sizes.find("Standard_NC12")) == "12 cores, 112 GiB, 2 x K80"
    assert str(vm_sizes.find("Standard_M8ms")) == "8 cores, 218.75 GiB"
