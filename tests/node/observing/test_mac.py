"""What `ps` says where there is no /proc. The text is that of a `ps` that could not be run here."""

from __future__ import annotations

import os

import pytest

from runyard.node.observing import mac


def test_those_below_a_process_and_not_those_that_serve_it() -> None:
    text = "1 0 10 0,5\n10 1 10 1.0\n11 10 1000 50.0\n12 11 500 25.0\n13 10 900 90.0\nodd line\n14 13 1 1.0\n"
    taken = mac.of_lines(text, above=10, spared={13})
    assert taken.node_cores == pytest.approx(1.675)
    assert (taken.cores, taken.memory, taken.processes) == (0.75, 1500 * 1024, 2)


def test_this_machines_ps_is_understood() -> None:
    taken = mac.look(os.getppid())
    if taken is None:
        pytest.skip("there is no ps here")
    assert taken.processes > 0
    assert taken.memory > 0
