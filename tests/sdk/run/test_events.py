"""Following a run: events to its end, and logs read on from where they were left, emptied ones from the start."""

from __future__ import annotations

import time

from tests.sdk.run.interactive_run import begin

from runyard.sdk.experiment import Experiment
from runyard.sdk.run.events import LogReader, follow


def test_events_end_with_the_run(experiment: Experiment) -> None:
    run = begin(experiment)
    run.complete()
    states = [event.value["status"] for event in follow(run._service, run.id) if event.name == "state"]
    assert states[-1] == "Completed"


def test_a_deadline_ends_the_wait_and_not_the_run(experiment: Experiment) -> None:
    run = begin(experiment)
    first = next(follow(run._service, run.id))
    assert first.value["status"] == "Running"
    assert list(follow(run._service, run.id, deadline=time.monotonic())) == []
    assert run.get_status() == "Running"
    run.complete()


def test_a_log_is_read_on_from_where_it_was_left(experiment: Experiment) -> None:
    run = begin(experiment)
    path, text = f"/api/runs/{run.id}/appends/logs/mine.txt", "zwölf\n".encode()
    reader = LogReader(run._service, run.id, "logs/mine.txt")
    assert "".join(reader.new_text()) == "", "it is not there yet"
    run._service.client.post(path, body=text[:3], params={"offset": 0})
    assert "".join(reader.new_text()) == "zw", "half a character waits for its other half"
    run._service.client.post(path, body=text[3:], params={"offset": 3})
    assert "".join(reader.new_text()) == "ölf\n"
    assert "".join(reader.new_text()) == ""
    run.complete()
