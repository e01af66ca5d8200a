from __future__ import annotations

from pathlib import Path

import pytest

from runyard.node.launch import gpus


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0,1", ["0", "1"]),
        (" 3 , 1", ["3", "1"]),
        ("GPU-8932f937,GPU-46ef3c12", ["GPU-8932f937", "GPU-46ef3c12"]),
        ("", []),
        ("-1", []),
        ("0,-1,1", ["0"]),
        ("NoDevFiles", []),
    ],
)
def test_what_the_batch_system_left_visible_is_all_there_is(text: str, expected: list[str]) -> None:
    assert gpus.visible({"CUDA_VISIBLE_DEVICES": text}) == expected


def test_a_machine_without_the_driver_has_none(tmp_path: Path) -> None:
    assert gpus.visible({"PATH": str(tmp_path)}) == []


def test_what_a_program_in_place_of_nvidia_smi_lists_is_taken(tmp_path: Path) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text('#!/bin/sh\necho "GPU 0: Tesla K80 (UUID: GPU-1)"\necho "GPU 1: Tesla K80 (UUID: GPU-2)"\n')
    program.chmod(0o700)
    assert gpus.visible({"PATH": str(tmp_path)}) == ["0", "1"]


@pytest.mark.parametrize(
    ("held", "processes", "expected"),
    [
        (4, 2, [["0", "1"], ["2", "3"]]),
        (3, 2, [["0", "1"], ["2"]]),
        (2, 2, [["0"], ["1"]]),
        (2, 3, [["0"], ["1"], ["0"]]),
        (0, 2, [[], []]),
    ],
)
def test_gpus_are_shared_evenly(held: int, processes: int, expected: list[list[str]]) -> None:
    names = [str(number) for number in range(held)]
    assert [gpus.share(names, place, processes) for place in range(processes)] == expected
