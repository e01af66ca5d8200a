"""The names of what is recorded of nodes: a name without a unit could not be drawn."""

from __future__ import annotations

from runyard.contracts.observed import load


def test_every_name_has_a_unit() -> None:
    names = [
        value for name, value in vars(load).items() if name.isupper() and not name.startswith("_") and "/" in str(value)
    ]
    assert len(names) > 12
    assert all(load.unit(name) for name in names)
    for each in (load.GPU_BUSY, load.GPU_MEMORY, load.GPU_TOTAL, load.GPU_POWER, load.GPU_HEAT, load.GPU_RUN):
        assert load.unit(load.gpu(11, each))


def test_a_metric_of_the_user_is_none_of_them() -> None:
    assert [load.unit(name) for name in ("loss", "gpux/busy", "train/loss", "")] == ["", "", "", ""]
