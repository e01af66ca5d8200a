"""A process learns its place from whichever launcher has started it."""

from __future__ import annotations

import doctest

import pytest

from runyard.compat.horovod.common.exceptions import HorovodInternalError
from runyard.compat.horovod.core import places

MET = {"MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "29500"}


def test_the_examples_run() -> None:
    assert doctest.testmod(places).failed == 0


@pytest.mark.parametrize(
    ("environ", "rank"),
    [
        ({"RANK": "2", "WORLD_SIZE": "4"}, 2),
        ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"}, 1),
        ({"PMI_RANK": "3", "PMI_SIZE": "4"}, 3),
    ],
)
def test_whoever_started_it(environ: dict[str, str], rank: int) -> None:
    found = places.find({**MET, **environ})
    assert (found.rank, found.size, found.host, found.port) == (rank, 4, "10.0.0.1", 29500)


def test_the_node_runners_port_comes_before_the_scripts_own() -> None:
    found = places.find({**MET, "RANK": "0", "WORLD_SIZE": "2", places.ADDRESS: "[::1]:7"})
    assert (found.host, found.port) == ("::1", 7)


def test_nonsense_is_refused_in_words() -> None:
    with pytest.raises(HorovodInternalError, match="nothing tells which"):
        places.find({**MET, "WORLD_SIZE": "2"})
    with pytest.raises(HorovodInternalError, match="nothing tells which"):
        places.find({**MET, "RANK": "2", "WORLD_SIZE": "2"})
    with pytest.raises(HorovodInternalError, match="where rank 0 is met"):
        places.find({"RANK": "1", "WORLD_SIZE": "2"})


def test_a_number_that_is_none_is_as_if_it_were_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOROVOD_STALL_CHECK_TIME_SECONDS", "soon")
    assert places.number("HOROVOD_STALL_CHECK_TIME_SECONDS", 60.0) == 60.0
    monkeypatch.setenv("HOROVOD_STALL_CHECK_TIME_SECONDS", "2.5")
    assert places.number("HOROVOD_STALL_CHECK_TIME_SECONDS", 60.0) == 2.5
