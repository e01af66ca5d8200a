"""The page of a run in a real browser: what somebody wants to know of it is there, live, and nothing in it is run."""

from __future__ import annotations

import re
import sys
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect
from tests.server.conftest import journal_lines
from tests.support.browser import NARROW, breaches, sign_in
from tests.support.filled import EVIL
from tests.support.rich_runs import START, journal, rich
from tests.support.waiting import wait_until

from runyard.contracts import states
from runyard.contracts.states import TERMINAL
from runyard.store.content import files
from runyard.store.content.objects import Stored
from runyard.store.runs import attempts, runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Dialog, Page
    from tests.server.conftest import Served

TABS = ("charts", "media", "logs", "files", "source", "environment", "overview")


@pytest.fixture(scope="module")
def run(studio: Served) -> Any:
    return rich(studio.client)


@pytest.fixture(scope="module")
def over(studio: Served) -> Any:
    """One that has ended: its page holds no stream open."""
    made = rich(studio.client, name="a run that is over")
    studio.client.end(made)
    return made


def opened(page: Page, run: Any, rest: str = "") -> None:
    page.goto(f"{page.url.partition('/studio')[0]}/studio/local/runs/{run['id']}{rest}")


def drawn(page: Page, name: str) -> str:
    """What a chart says of itself, once it is drawn."""
    place = page.locator(f'figure:has(figcaption[title^="{name}"])')
    place.scroll_into_view_if_needed()
    page.wait_for_function("figure => figure.dataset.drawn", arg=place.element_handle())
    return str(place.locator("canvas.chart-canvas").get_attribute("aria-label"))


def test_all_of_a_run_is_shown_and_follows_it(studio: Served, page: Page, run: Any) -> None:
    """Curves appear and grow by themselves, with settings that stay in the address; media, logs, files and source are
    there with what belongs to them; the end is told in words."""
    client = studio.client
    opened(page, run)
    assert page.locator("#account h2").inner_text() == "Running"
    assert "train/loss: 300 points" in drawn(page, "train/loss")
    groups = page.locator(".curves-group summary .curves-name").all_inner_texts()
    assert groups == ["train", "validation", "Without a group"]
    assert "from 2.38e-6 to 0.001" in drawn(page, "learning rate"), "NaN and infinities are no part of the range"

    page.locator('[data-metric="remark"]').scroll_into_view_if_needed()
    page.wait_for_selector('[data-metric="remark"] li >> text=a text <b>as it is</b>')

    body = journal_lines(["v", "train/loss", 0.125, START + 900, 300], ["v", "later/metric", 1.5, START, None])
    offset = len(journal(0.02))
    client.ok("POST", f"/api/runs/{run['id']}/journals/rank0-w?offset={offset}", body=body)
    page.wait_for_function(
        "() => [...document.querySelectorAll('canvas')].some((each) => each.ariaLabel?.includes('the last 0.125'))"
    )
    assert "later/metric: 1 points" in drawn(page, "later/metric")
    groups = page.locator(".curves-group summary .curves-name").all_inner_texts()
    assert groups == ["train", "validation", "later", "Without a group"]

    page.get_by_label("Search metrics").fill("/^validation/")
    page.wait_for_function("() => document.querySelectorAll('[data-metric]').length === 2")
    page.get_by_label("X axis").select_option("relative")
    page.get_by_role("button", name="Log y", exact=True).click()
    page.wait_for_function("() => location.search.includes('logy=1')")
    assert "x=relative" in page.url
    page.reload()
    assert "over time since the start" in drawn(page, "validation/loss")
    assert page.locator("[data-metric]").count() == 2
    page.get_by_label("Search metrics").fill("")

    page.get_by_role("tab", name="Images and tables").click()
    page.wait_for_selector(".media-body img")
    slider = page.get_by_label("Step of samples")
    slider.focus()
    slider.press("Home")
    page.wait_for_function("() => document.querySelector('.media-body img').src.endsWith('images/0.png')")
    for title in ("confusion matrix", "accuracy table: ROC", "residuals", "predictions: predicted"):
        drawn(page, title)
    assert page.locator(".media-table td", has_text="<script>").count() == 1

    page.get_by_role("tab", name="Logs").click()
    page.wait_for_selector(".log-row")
    log = page.locator(".log").first
    assert "100% done" in log.inner_text()
    assert "50%" not in log.inner_text(), "a line that was written over is what it was in the end"
    assert page.locator(".ansi-red.ansi-bold", has_text="0.5").count() == 1
    page.get_by_label("Search this log").fill("step 1234 of")
    page.keyboard.press("Enter")
    page.wait_for_selector(".log-row.log-marked")
    assert page.locator(".log-row.log-marked .log-number").inner_text() == "1236"
    page.wait_for_function("() => document.querySelector('.log').scrollTop > 1000")
    page.get_by_role("button", name="Ranks side by side").click()
    page.wait_for_function("() => document.querySelectorAll('.log-column .log-row').length > 500")
    assert page.locator(".log-title b").all_inner_texts() == ["Rank 0", "Rank 1"]
    log_path = f"/api/runs/{run['id']}/appends/user_logs/live.txt"
    page.get_by_role("button", name="Ranks side by side").click()
    client.ok("POST", f"{log_path}?offset=0", body=b"first\n")
    page.wait_for_function("() => document.querySelector('option[value=\"user_logs/live.txt\"]')")
    page.get_by_label("Log", exact=True).select_option("user_logs/live.txt")
    page.wait_for_selector(".log-row >> text=first")
    client.ok("POST", f"{log_path}?offset=6", body=b"second\n")
    page.wait_for_selector(".log-row >> text=second")

    page.get_by_role("tab", name="Files").click()
    for name, expected in (
        ("table.csv", "td >> text=a, b"),
        ("result.json", ".code >> text=accuracy"),
        ("README.md", ".markdown strong >> text=best"),
        ("notebook.ipynb", ".notebook-output >> text=the result is 2"),
        ("model.bin", ":text('This is no text')"),
        ("empty.txt", ":text('The file is empty')"),
        ("0.png", ".preview-image img"),
    ):
        page.locator(".panel-files .files-row", has_text=name).click()
        page.wait_for_selector(f".panel-files .files-view {expected}")
    with page.expect_download() as waiting:
        page.locator(".panel-files .files-head a", has_text="Download").click()
    assert waiting.value.suggested_filename == "0.png"

    page.get_by_role("tab", name="Source").click()
    page.wait_for_selector(".panel-source .code-word >> text=import")
    page.get_by_role("tab", name="Overview").click()
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Notes in Markdown").fill("# New\n\n*notes* and <b>text</b>")
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector(".notes em >> text=notes")
    assert client.ok("GET", f"/api/runs/{run['id']}")["description"].startswith("# New")

    error = {"code": "UserError", "message": "CUDA out of memory", "help": "Use a smaller batch."}
    client.end(run, "failed", error=error)
    page.wait_for_selector("#account h2 >> text=Failed: CUDA out of memory")
    assert "Use a smaller batch." in page.locator("#account").inner_text()
    assert page.locator("#run-status").inner_text() == "Failed"


@pytest.mark.parametrize("look", ["light", "dark", "narrow"])
def test_everybody_can_read_it(studio: Served, new_page: Callable[..., Page], over: Any, axe: str, look: str) -> None:
    """axe-core finds nothing serious in any part of it, and on a phone nothing is wider than the screen."""
    how: dict[str, Any] = {"color_scheme": "dark" if look == "dark" else "light"}
    page = new_page(**how, **({"viewport": NARROW} if look == "narrow" else {}))
    sign_in(page, studio.client)
    opened(page, over)
    drawn(page, "train/loss")
    for tab in TABS:
        page.locator(f"#tab-{tab}").click()
        page.wait_for_function("name => document.getElementById(`panel-${name}`).childElementCount", arg=tab)
        page.wait_for_load_state("networkidle")
        expect(page.locator(f"#tab-{tab}")).to_be_in_viewport(ratio=0.9)
        if look == "narrow":
            assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"], tab
        else:
            assert breaches(page, axe) == [], tab


def test_charts_by_keyboard_as_tables_and_as_files(page: Page, over: Any) -> None:
    opened(page, over, "?metrics=train/loss")
    drawn(page, "train/loss")
    figure = page.locator("figure").first
    canvas = figure.locator("canvas.chart-canvas")
    canvas.focus()
    canvas.press("End")
    told = figure.locator(".chart-status")
    assert re.match(r"step (299|300): train/loss 0\.", told.inner_text())
    canvas.press("ArrowLeft")
    assert re.match(r"step (298|299): ", told.inner_text())
    canvas.press("+")
    page.wait_for_function("() => !document.querySelector('[aria-label=\"Show everything again\"]').hidden")
    canvas.press("0")
    figure.get_by_role("button", name="Numbers as a table").click()
    assert figure.locator("tbody tr").count() >= 300
    for kind, begins in (("CSV", b"step,train/loss"), ("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        figure.get_by_role("button", name="Save as PNG, SVG or CSV").click()
        with page.expect_download() as waiting:
            figure.get_by_role("button", name=kind, exact=True).click()
        content = waiting.value.path().read_bytes()
        assert content.startswith(begins)
        assert waiting.value.suggested_filename == f"train_loss.{kind.lower()}"
    figure.get_by_role("button", name="Full screen").click()
    box = figure.bounding_box()
    assert box is not None
    assert (box["width"], box["height"]) == (1280, 800)
    canvas.press("Escape")
    assert "chart-large" not in str(figure.get_attribute("class"))


def test_a_line_of_a_log_has_an_address(page: Page, over: Any) -> None:
    opened(page, over, "#logs?file=user_logs/std_log_process_0.txt&line=1236")
    marked = page.locator(".log-row.log-marked")
    marked.wait_for()
    assert marked.inner_text().split("\n") == ["1236", "step 1234 of rank 0"]
    page.locator(".log-number", has_text=re.compile("^1240$")).click()
    page.locator(".log-row.log-marked >> text=step 1238 of rank 0").wait_for()
    page.reload()
    marked.wait_for()
    assert marked.locator(".log-number").inner_text() == "1240"


def test_names_and_texts_are_never_markup(studio: Served, page: Page) -> None:
    """Control characters and markup in the name of a run, of metrics, tags, files, in logs and notes."""
    client = studio.client
    evil = client.make_run(display_name=EVIL, description=EVIL, tags={EVIL: EVIL})
    path = f"/api/runs/{evil['id']}"
    client.ok("POST", f"{path}/journals/w?offset=0", body=journal_lines(["v", EVIL, 1.0, 0.0, None]))
    for file in ("user_logs/std_log.txt", "outputs/evil.md", "outputs/evil.csv", "outputs/evil.json"):
        client.ok("PUT", f"{path}/files/{file}", body=EVIL.encode())
    named = "<img src=x onerror=alert(1)> & 'x' \u202e\x07.txt"
    for folder in ("user_logs", "outputs"):
        client.ok("PUT", f"{path}/files/{quote(f'{folder}/{named}')}", body=EVIL.encode())
    evil_svg = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    client.ok("PUT", f"{path}/files/outputs/evil.svg", body=evil_svg)
    client.end(evil, "failed", error={"code": EVIL, "message": EVIL, "help": EVIL})
    dialogs: list[str] = []

    def asked(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", asked)
    opened(page, evil)
    assert "<script>alert('x')</script>" in page.locator("#account").inner_text()
    assert "\u202e" not in page.locator("#run-title").inner_text()
    page.wait_for_selector("figure[data-drawn]")
    assert "<script>" in page.locator("figcaption").first.inner_text()
    for tab in TABS:
        page.locator(f"#tab-{tab}").click()
        page.wait_for_load_state("networkidle")
    assert "<script>" in page.locator(".log-row").first.inner_text()
    page.locator("#tab-logs").click()
    choice = page.get_by_label("Log", exact=True)
    choice.select_option(f"user_logs/{named}")
    assert "<img src=x" in choice.inner_text()
    page.locator("#tab-files").click()
    page.locator(".panel-files .files-row", has_text="<img src=x").first.click()
    page.locator(".panel-files .files-name", has_text="<img src=x").wait_for()
    page.locator(".panel-files .files-view", has_text="<script>alert").wait_for()
    assert page.locator("img[src=x]").count() == 0
    for file in ("evil.md", "evil.csv", "evil.json", "evil.svg"):
        page.goto(f"{page.url.partition('#')[0]}#files?file=outputs/{file}")
        page.wait_for_selector(f".panel-files .files-name >> text={file}")
        page.wait_for_load_state("networkidle")
    assert page.locator("main script").count() == page.locator("main script[type='application/json']").count()
    assert dialogs == []


def test_ten_thousand_metrics(studio: Served, page: Page) -> None:
    """Only the charts in sight are fetched and drawn; the others are there by search."""
    client = studio.client
    run = client.make_run(display_name="many metrics")
    lines = journal_lines(*(["v", f"m{number:05}", number / 7, START, 1] for number in range(10_000)))
    client.ok("POST", f"/api/runs/{run['id']}/journals/w?offset=0", body=lines)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    opened(page, run)
    drawn(page, "m00000")
    assert page.locator("[data-metric]").count() == 24
    assert 1 <= sum(url.count("name=m") for url in asked) < 60
    page.get_by_label("Search metrics").fill("m09999")
    assert "m09999: 1 points" in drawn(page, "m09999")
    page.get_by_label("Search metrics").fill("")
    page.get_by_role("button", name="Show 120 more of 10,000").click()
    page.wait_for_function("() => document.querySelectorAll('[data-metric]').length === 144")


def test_a_file_of_five_gigabytes_and_a_log_of_one_on_one_line(studio: Served, page: Page) -> None:
    """Some hundred kilobytes of them travel. The files have holes; how they are read is the same."""
    client = studio.client
    run = client.make_run(display_name="large files")
    store = studio.app.state.context.store
    for name, size in (("outputs/large.txt", 5 << 30), ("user_logs/std_log.txt", 1 << 30)):
        stored = Stored(sha256(name.encode()).hexdigest(), size)
        place = store.objects.path(stored.digest)
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("wb") as file:
            file.write(b"x" * 300_000)
            file.truncate(size)
        with store.database.write() as connection:
            files.put(connection, run["id"], name, stored)
    client.end(run)
    sizes: list[int] = []
    page.on("response", lambda response: sizes.append(int(response.headers.get("content-length", 0))))
    opened(page, run, "#files?file=outputs/large.txt")
    page.wait_for_selector(".files-view >> text=of 5.4 GB.")
    page.goto(f"{page.url.partition('#')[0]}#logs")
    page.wait_for_selector(".log-cut >> text=1.1 GB more in this line")
    assert max(sizes) < 1_000_000


def test_five_million_points_with_nan_and_infinities(studio: Served, page: Page) -> None:
    """They come as buckets, fewer than there are pixels; a zoom shows a part of them in full detail."""
    client = studio.client
    run = client.make_run(display_name="long series")
    offset, number, piece = 0, 0, 250_000
    while number < 5_000_000:
        lines = b"".join(
            b'["v","long",%s,%d,%d]\n'
            % (b'{"f":"nan"}' if at % 1000 == 0 else b'{"f":"inf"}' if at == 77 else b"%d" % (at % 1009), START, at)
            for at in range(number, number + piece)
        )
        offset = client.ok("POST", f"/api/runs/{run['id']}/journals/w?offset={offset}", body=lines)["offset"]
        number += piece
    client.end(run)
    opened(page, run)
    label = drawn(page, "long")
    points = int(re.findall(r"long: (\d+) points", label)[0])
    assert 200 <= points <= 3000
    box = page.locator("canvas.chart-canvas").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 150, box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + 170, box["y"] + 80, steps=4)
    page.mouse.up()
    page.wait_for_function(
        "() => performance.getEntriesByType('resource').some((each) => each.name.includes('first='))"
    )
    page.wait_for_load_state("networkidle")


def test_a_server_that_goes_away_and_comes_back(page: Page, run: Any, page_errors: Any) -> None:
    page_errors.allow("net::ERR", "Failed to load resource")
    opened(page, run)
    drawn(page, "train/loss")
    page.context.set_offline(True)
    page.locator("#tab-logs").click()
    page.wait_for_selector("#live-banner:not([hidden])")
    page.context.set_offline(False)
    page.wait_for_selector("#live-banner", state="hidden")
    page.locator("#tab-charts").click()
    drawn(page, "train/loss")


def test_a_run_that_does_not_exist(page: Page, page_errors: Any) -> None:
    page_errors.allow("404")
    opened(page, {"id": "nosuch"})
    assert "nosuch" in page.locator("main").inner_text()


def test_data_models_and_environment_that_hang_on_a_run(studio: Served, page: Page) -> None:
    client, api = studio.client, "/api/workspaces/local"
    definition = {"kind": "file", "sources": [{"url": "http://127.0.0.1:9/a"}], "steps": []}
    dataset = client.ok("POST", f"{api}/datasets", {"definition": definition})
    client.ok("POST", f"{api}/datasets/{dataset['id']}/registrations", {"name": "digits"})
    launch = {
        "script": "train.py",
        "arguments": ["--rate", "0.1"],
        "environment": {"python": "3.11", "pip": ["numpy"]},
        "environment_variables": {"KEY": "<b>value</b>"},
        "inputs": [{"name": "images", "dataset": dataset["id"], "mode": "mount"}],
    }
    run = studio.stored_run(kind="script", launch=launch)
    client.call("PUT", f"/api/runs/{run['id']}/files/outputs/model.bin", body=b"m")
    client.ok("POST", f"{api}/models", {"name": "classifier", "run_id": run["id"], "path": "outputs/model.bin"})
    opened(page, run, "#overview")
    page.wait_for_selector("a >> text=digits version 1")
    assert page.get_by_role("link", name="classifier").get_attribute("href") == "/studio/local/models/classifier"
    assert "train.py --rate 0.1" in page.locator(".panel-overview").inner_text()
    parameters = page.locator(".panel-overview .card").filter(has_text="Parameters")
    assert parameters.locator("dt, dd").all_inner_texts() == ["rate", "0.1"]
    page.locator("#tab-environment").click()
    page.wait_for_selector(".panel-environment .code >> text=numpy")
    assert "<b>value</b>" in page.locator(".panel-environment").inner_text()
    assert "Waits" in page.locator("#account").inner_text()


def test_a_run_that_was_started_twice(studio: Served, page: Page) -> None:
    """Its way from state to state, attempt by attempt, and the logs of both."""
    client, store = studio.client, studio.app.state.context.store
    run = studio.stored_run(kind="script", launch={"command": "true"})
    path = f"/api/runs/{run['id']}"
    with store.database.write() as connection:
        runs.record_state(connection, run["id"], states.RUNNING, "started")
    client.ok("PUT", f"{path}/files/user_logs/std_log.txt", body=b"of the first attempt\n")
    with store.database.write() as connection:
        attempts.ask(connection, run["id"], "its node is gone")
        runs.record_state(connection, run["id"], states.QUEUED, "its node is gone")
        attempts.begin_next(connection, run["id"])
        runs.record_state(connection, run["id"], states.RUNNING, "started again")
        runs.record_state(connection, run["id"], states.COMPLETED, "completed")
    client.ok("PUT", f"{path}/files/user_logs/std_log.txt", body=b"of the second attempt\n")
    opened(page, run)
    timeline = page.locator("#timeline")
    timeline.get_by_text("2 attempts").click()
    expect(timeline.locator("tbody tr").last).to_contain_text("attempt 2")
    shown = [row.split()[1] for row in timeline.locator("tbody tr").all_inner_texts()]
    assert shown == sorted(shown)
    assert set(shown) == {"1", "2"}
    timeline.get_by_text("its node is gone").wait_for()
    page.locator("#tab-logs").click()
    page.locator(".log-row", has_text="of the second attempt").wait_for()
    page.get_by_label("Log", exact=True).select_option("user_logs/attempt_1/std_log.txt")
    page.locator(".log-row", has_text="of the first attempt").wait_for()


def test_the_environment_as_it_was_built(studio: Served, page: Page) -> None:
    """A real run, whose environment is made for it."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    launch = {"command": "python -c 'import sys; print(sys.prefix)'", "environment": {"python": version}}
    made = studio.client.make_run(kind="script", launch=launch)
    path = f"/api/runs/{made['id']}"
    wait_until(lambda: studio.client.ok("GET", path)["status"] in TERMINAL, "the end of the run")
    run = studio.client.ok("GET", path)
    assert run["status"] == "Completed", run["error"]
    opened(page, run, "#environment")
    built = page.locator(".panel-environment .card").filter(has_text="As built")
    built.get_by_text(run["properties"]["runyard.environment.used"]).wait_for()
    assert version in built.inner_text()
    built.get_by_role("link", name="The log of the build").click()
    page.wait_for_selector("#tab-logs[aria-selected=true]")
    assert page.locator(".panel-logs select").first.input_value() == "system_logs/environment.log"
