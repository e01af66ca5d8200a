"""What a sweep writes about itself: the log in SDK v1's form, and the table of the best child."""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING

from runyard.scheduler.sweeps import record
from runyard.scheduler.sweeps.record import SweepLog
from runyard.scheduler.sweeps.trials import Trial
from runyard.store.metrics import series

if TYPE_CHECKING:
    from tests.scheduler.sweeps.conftest import SweepYard


def test_lines_have_time_source_and_level_and_go_on_after_a_restart(yard: SweepYard) -> None:
    run_id = yard.submit("broken")
    grown: list[int] = []
    for text in ("one", "two"):
        log = SweepLog(yard.store, run_id, lambda run, name, size: grown.append(size))
        log.say(record.GENERATOR, text)
        log.write()
        log.write()
    lines = yard.log_text(run_id).splitlines()
    form = r"\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\]\[GENERATOR\]\[INFO\](one|two)"
    assert [bool(re.fullmatch(form, each)) for each in lines] == [True, True]
    assert len(grown) == 2


def test_the_best_child_is_a_property_and_a_row(yard: SweepYard) -> None:
    run_id = yard.submit("broken")
    for value, final in ((0.5, False), (0.7, True)):
        with yard.store.database.write() as connection:
            record.store_best(connection, run_id, Trial(3, "HD_1_3", {}, True, array("d", [value])), final)
    assert yard.run(run_id).properties["score"] == "0.7"
    with yard.store.database.read() as connection:
        (table,) = series.read(connection, run_id, "best_child_by_primary_metric")
    assert table["columns"] == {"run_id": ["HD_1_3"] * 2, "metric_value": [0.5, 0.7], "final": [False, True]}
