"""What the widget shows around a run: texts stay texts, and the best child is the best."""

from __future__ import annotations

import json
from typing import Any, cast

from tests.sdk.widgets.plain_html import assert_plain

from runyard.contracts.observed import load
from runyard.sdk.experiment import Experiment
from runyard.sdk.widgets import rendering, sections
from runyard.sdk.widgets.overview import look
from runyard.sdk.widgets.surroundings import SIDE_BY_SIDE, Rank, ServedModel, Surroundings

HOSTILE = "<script>alert(1)</script>&\"' \x1b[2J"


def trial(number: int, best: float | None, **more: Any) -> dict[str, Any]:
    return {
        "number": number,
        "run_id": f"HD_{number}",
        "parameters": {"lr": 0.5, HOSTILE: HOSTILE},
        "status": "Completed",
        "best": best,
        "intervals": 1,
        "verdict": None,
        **more,
    }


SWEEP = {
    "metric": HOSTILE,
    "goal": "minimize",
    "runs": 9,
    "trials": [
        trial(0, 0.5),
        trial(1, 0.25),
        trial(2, None, status=None),
        trial(3, float("inf")),
        trial(4, 0.75, status="Canceled", verdict=HOSTILE),
    ],
}


def values(name: str, *points: float, **more: Any) -> Any:
    times = [float(number) for number in range(len(points))]
    known = {"name": name, "kind": "values", "description": None, "count": len(points), "steps": None}
    return {**known, "values": list(points), "times": times, **more}


AROUND = Surroundings(
    observed=[values(load.MEMORY_RUN, 1e9, 2.5e9), values(load.CPU_RUN, 0.5, 1.0), values("gpu0/busy", 50)],
    events=[values(HOSTILE, 1.0, 2.0)],
    ranks=[
        Rank(0, "user_logs/std_log_process_0.txt", f"begins\n{HOSTILE}\n"),
        Rank(1, "user_logs/std_log_process_1.txt"),
    ],
    sweep=SWEEP,
    children=cast("Any", [{"id": HOSTILE, "display_name": HOSTILE, "status": "Failed", "web_url": "javascript:x"}]),
    models=[ServedModel(HOSTILE, [(HOSTILE, "Healthy", "http://h/score")])],
)


def test_all_of_it_is_plain_html() -> None:
    html = "".join(sections.html(AROUND))
    assert_plain(html)
    assert html.count("&lt;script&gt;") >= 6
    assert "javascript" not in html
    assert "2.5 GB" in html
    assert "50 %" in html
    assert "2 ranks" in html
    assert "rank 0, user_logs" in html
    assert "1: each with a log" in html
    assert html.index("<strong>0.25</strong>") < html.index(">0.5<") < html.index(">0.75<")
    assert "5 of 9 children: 3 Completed, 1 waiting, 1 Canceled" in html


def test_the_same_as_text() -> None:
    lines = list(sections.lines(AROUND))
    assert not [line for line in lines if "\x1b" in line or "\n" in line]
    assert [line.split()[0] for line in lines if "HD_" in line] == ["0.25", "0.5", "0.75"]
    assert "Memory: 2.5 GB" in lines
    assert "  0: begins" in lines


def test_nothing_around_it() -> None:
    assert list(sections.html(Surroundings())) == []
    assert list(sections.lines(Surroundings())) == []


def test_what_a_real_run_has_is_asked_for(experiment: Experiment) -> None:
    run = experiment.start_logging(outputs=None, snapshot_directory=None)
    child = run.child_run(name="the child")
    child.complete()
    for rank in range(3):
        run.upload_file(f"user_logs/std_log_process_{rank}.txt", _text(rank))
    run.upload_file("outputs/model.txt", _text(9))
    model = run.register_model(f"of-{run.id[-8:]}", "outputs/model.txt")
    run.complete()
    around = look(experiment.workspace.service, run.id).around
    assert [(rank.number, rank.tail) for rank in around.ranks] == [(0, "0"), (1, "1"), (2, "2")]
    assert [each["id"] for each in around.children] == [child.id]
    assert [(each.id, list(each.services)) for each in around.models] == [(model.id, [])]
    assert (around.sweep, list(around.observed), list(around.events)) == (None, [], [])


def test_the_logs_of_ranks_are_side_by_side_and_nowhere_else(experiment: Experiment) -> None:
    run = experiment.start_logging(outputs=None, snapshot_directory=None)
    for rank in range(SIDE_BY_SIDE + 2):
        run.upload_file(f"user_logs/std_log_process_{rank}.txt", _text(1000 + rank))
    run.complete()
    seen = look(experiment.workspace.service, run.id)
    html = rendering.html(seen)
    assert [html.count(f">{1000 + rank}</pre>") for rank in range(SIDE_BY_SIDE + 2)] == [1] * SIDE_BY_SIDE + [0, 0]
    assert f"{SIDE_BY_SIDE}, {SIDE_BY_SIDE + 1}: each with a log" in html
    assert rendering.text(seen).count("\n    0: 1000\n") == 1


def test_the_log_of_a_single_process_is_no_rank(experiment: Experiment) -> None:
    run = experiment.start_logging(outputs=None, snapshot_directory=None)
    run.upload_file("user_logs/std_log_process_0.txt", _text(77))
    run.complete()
    assert look(experiment.workspace.service, run.id).around.ranks == []


def _text(number: int) -> str:
    name = f"{number}.json"
    with open(name, "w", encoding="utf-8") as file:
        json.dump(number, file)
    return name
