"""Texts of users and scripts are shown as text, in HTML and on a terminal."""

from __future__ import annotations

from tests.sdk.widgets.plain_html import assert_plain

from runyard.sdk.experiment import Experiment
from runyard.sdk.widgets import rendering
from runyard.sdk.widgets.overview import look

HOSTILE = "<script>alert(1)</script>&\"' \x1b]0;title\x07\x1b[2J"


def test_what_users_have_written_does_no_harm(experiment: Experiment) -> None:
    run = experiment.start_logging(display_name=HOSTILE, outputs=None, snapshot_directory=None)
    run.log(HOSTILE, 1.0)
    run.log(HOSTILE, 2.0)
    run.log("text", HOSTILE)
    run.log_row("table", **{HOSTILE: HOSTILE})
    run.log("numbers", float("nan"))
    run.log("numbers", float("inf"))
    run.log("wide", -1.7e308)
    run.log("wide", 1.7e308)
    with run:
        print(HOSTILE)
        run.fail(ZeroDivisionError(HOSTILE))
    seen = look(experiment.workspace.service, run.id)
    html, text = rendering.html(seen, HOSTILE), rendering.text(seen, HOSTILE)
    assert_plain(html)
    assert html.count("&lt;script&gt;") >= 6, "each of the texts is there, and escaped"
    assert "inf" not in html[html.index("wide") :].partition("<polyline")[2].partition("</svg>")[0]
    for shown in (html, text):
        assert "\x1b" not in shown
        assert "\x07" not in shown
