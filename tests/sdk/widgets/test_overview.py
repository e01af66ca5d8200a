"""What a widget fetches of a run stays within bounds, however much the run has logged."""

from __future__ import annotations

from tests.sdk.widgets.plain_html import assert_plain

from runyard.sdk.experiment import Experiment
from runyard.sdk.widgets import rendering
from runyard.sdk.widgets.overview import METRICS, POINTS, look
from runyard.sdk.widgets.run_details import RunDetails


def test_a_run_with_many_metrics_and_points_is_looked_at_in_bounds(experiment: Experiment) -> None:
    run = experiment.start_logging(outputs=None, snapshot_directory=None)
    run.log_table("table", {"x": list(range(5000))})
    run.log_list("words", ["w" * 100] * 5000)
    for number in range(100):
        run.log_list(f"metric {number}", list(range(1000)))
    run.complete()
    seen = look(experiment.workspace.service, run.id)
    assert len(seen.metrics) == METRICS
    assert seen.more_metrics
    table, message, first = seen.metrics[:3]
    assert (table["columns"]["x"], table["count"]) == (list(range(5000 - POINTS, 5000)), 5000)
    assert (len(message["values"]), message["count"]) == (POINTS, 5000)
    assert first["count"] == 1000
    html = rendering.html(seen)
    assert len(html) < 100_000
    assert_plain(html)
    assert "There are more metrics" in html
    data = RunDetails(run).get_widget_data()
    assert (data["status"], data["run_id"], data["loading"]) == ("Completed", run.id, False)
    assert data["workbench_run_details_uri"] == run.get_portal_url()
    drawn = {metric["name"]: metric for metric in data["run_metrics"]}
    assert drawn["metric 0"]["categories"] == list(range(POINTS))
    assert drawn["metric 0"]["series"][0]["data"][-1] == 999
    assert drawn["table"]["series"][0]["name"] == "x"
