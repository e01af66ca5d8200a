"""The pictures of the documents: `python -m tests.support.screenshots docs/images` makes them again.

A server in a temporary home gets the runs of an invented week and Chromium looks at them. Both have ended when this
does. Needed are Chromium and playwright, which `make test` sets up.
"""

from __future__ import annotations

import io
import secrets
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from math import cos, exp
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import update
from tests.server.conftest import Served, journal_lines, serve
from tests.support.browser import ARGUMENTS, CHROMIUM, NARROW, PATIENCE, PageErrors, sign_in, watch
from tests.support.rich_runs import stored_snapshot

from runyard.server.settings import Settings
from runyard.store.tables import runs as run_rows
from runyard.store.tables import states as state_rows

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from tests.server.conftest import Client

MOST_BYTES = 120_000
"""Of one picture: a clone of the repository has all that there ever were."""
VIEW = {"width": 1160, "height": 680}
STEPS = 240
USER = "ada"
COLUMNS = ("status", "experiment", "created", "duration", "metrics.val/accuracy", "metrics.val/loss", "params.lr")
TRAIN = b'''"""Train a small network on MNIST."""
import argparse

from azureml.core import Run

run = Run.get_context()
'''


@dataclass(frozen=True)
class Trial:
    """A run of the invented week."""

    name: str
    experiment: str
    lr: float
    batch: int
    hours: float
    """Before now it was started."""
    minutes: float
    """It took."""
    error: dict[str, str] | None = None

    @property
    def seed(self) -> int:
        """The same whenever the pictures are made."""
        return zlib.crc32(self.name.encode())


OUT_OF_MEMORY = {
    "code": "UserError",
    "message": "CUDA out of memory. Tried to allocate 2.00 GiB",
    "help": "Use a smaller batch, or a node with more memory.",
}
GOING = "wide layers, warm-up"
TRIALS = (
    Trial("baseline", "mnist", 0.01, 64, 75, 21),
    Trial("baseline, seed 2", "mnist", 0.01, 64, 74, 22),
    Trial("larger batch", "mnist", 0.01, 256, 52, 14),
    Trial("largest batch", "mnist", 0.03, 2048, 51, 2, OUT_OF_MEMORY),
    Trial("lr 0.03", "mnist", 0.03, 64, 50, 21),
    Trial("lr 0.1", "mnist", 0.1, 64, 49, 20),
    Trial("resnet18", "cifar-10", 0.05, 128, 28, 184),
    Trial("resnet18, augmented", "cifar-10", 0.05, 128, 24, 213),
    Trial("resnet34", "cifar-10", 0.02, 128, 20, 302),
    Trial("cosine schedule", "mnist", 0.06, 64, 5, 23),
    Trial("dropout 0.2", "mnist", 0.03, 64, 4, 25),
    Trial(GOING, "mnist", 0.05, 128, 0.2, 0),
)
COMPARED = ("baseline", "lr 0.03", "cosine schedule", "lr 0.1")


def main(folder: str = "docs/images") -> None:
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with _served() as served:
        ids = _fill(served)
        with _browser() as browser:
            for name, picture in PICTURES.items():
                content = _taken(browser, served, ids, picture)
                if len(content) > MOST_BYTES:
                    raise SystemExit(f"{name} has {len(content)} bytes, and may have {MOST_BYTES}.")
                (target / name).write_bytes(content)
                print(f"{target / name}: {len(content)} bytes")


@dataclass(frozen=True)
class Picture:
    """What to look at and how; `until` waits for what must be seen."""

    path: Callable[[dict[str, str]], str]
    until: Callable[[Page], None]
    options: dict[str, Any] = field(default_factory=dict)


def _rows(page: Page) -> None:
    page.get_by_text("baseline, seed 2").first.wait_for()


def _charts(page: Page) -> None:
    page.wait_for_function(
        "() => [...document.querySelectorAll('figure')].filter((each) => each.checkVisibility()"
        " && each.getBoundingClientRect().top < innerHeight).every((each) => each.dataset.drawn)"
        " && document.querySelector('figure[data-drawn]')"
    )


def _table(ids: dict[str, str]) -> str:
    return "runs?" + "&".join(f"col={each}" for each in COLUMNS)


def _compared(ids: dict[str, str]) -> str:
    return f"compare?runs={','.join(ids[each] for each in COMPARED)}&smooth=0.6"


PICTURES = {
    "runs.png": Picture(_table, _rows, {"viewport": {**VIEW, "height": 580}}),
    "run.png": Picture(lambda ids: f"runs/{ids['cosine schedule']}?smooth=0.6", _charts),
    "compare.png": Picture(_compared, _charts),
    "run-dark.png": Picture(lambda ids: f"runs/{ids[GOING]}?smooth=0.6", _charts, {"color_scheme": "dark"}),
    "run-narrow.png": Picture(lambda ids: f"runs/{ids['resnet34']}", _charts, {"viewport": NARROW}),
}


def _taken(browser: Browser, served: Served, ids: dict[str, str], picture: Picture) -> bytes:
    how = {"viewport": VIEW, "reduced_motion": "reduce", "locale": "en-GB", "timezone_id": "UTC"}
    context = browser.new_context(**{**how, **picture.options})
    try:
        context.set_default_timeout(PATIENCE)
        page, errors = context.new_page(), PageErrors()
        watch(page, errors)
        sign_in(page, served.client)
        page.goto(f"{served.settings.url}/studio/local/{picture.path(ids)}")
        picture.until(page)
        content = _packed(page.screenshot(animations="disabled", caret="hide"))
        if errors:
            raise SystemExit("in the browser: " + "; ".join(errors))
        return content
    finally:
        context.close()


def _packed(png: bytes) -> bytes:
    """The same picture with a palette of 256 colours: a third of the bytes, and nobody sees it."""
    from PIL import Image  # comes with matplotlib

    packed = io.BytesIO()
    with Image.open(io.BytesIO(png)) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(packed, "PNG", optimize=True)
    return packed.getvalue()


@contextmanager
def _browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def _served() -> Iterator[Served]:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOGNAME", USER)
        home = Path(folder) / "home"
        home.mkdir(mode=0o700)
        with serve(Settings(home=home, token=secrets.token_hex(8), secret=secrets.token_hex(8))) as served:
            yield served


def _fill(served: Served) -> dict[str, str]:
    """The runs, and the id of each by its name."""
    ids = {}
    for trial in TRIALS:
        run = _made(served.client, trial)
        ids[trial.name] = run["id"]
        if trial.name != GOING:
            served.client.end(run, "failed" if trial.error else "completed", error=trial.error)
        _date_back(served, run["id"], trial)
    return ids


def _made(client: Client, trial: Trial) -> Any:
    run = client.make_run(
        experiment=trial.experiment,
        run_id=f"{trial.experiment}_{trial.seed:08x}",
        display_name=trial.name,
        snapshot_id=stored_snapshot(client, {"train.py": TRAIN}),
    )
    body = journal_lines(["P", {"lr": str(trial.lr), "batch-size": str(trial.batch), "epochs": "12"}], *_points(trial))
    client.ok("POST", f"/api/runs/{run['id']}/journals/w?offset=0", body=body)
    log = b"".join(b"epoch %d of 12 done\n" % epoch for epoch in range(1, 13))
    client.ok("PUT", f"/api/runs/{run['id']}/files/user_logs/std_log.txt", body=log)
    return run


def _points(trial: Trial) -> Iterator[list[Any]]:
    """A loss that falls and an accuracy that rises, the faster the higher the rate, and ever less smoothly."""
    started = datetime.now(timezone.utc) - timedelta(hours=trial.hours)
    chance = Random(trial.seed)
    speed, floor = 0.012 + 0.5 * trial.lr, 0.05 + 0.9 * trial.lr**1.2 + 0.02 * chance.random()
    hard = 0.35 if trial.experiment == "cifar-10" else 0.0
    steps = STEPS // 10 if trial.error else STEPS * 2 // 3 if trial.name == GOING else STEPS
    for step in range(steps):
        at = started.timestamp() + step * (trial.minutes or 12 / 0.66) * 60 / STEPS
        noise = chance.gauss(0, 0.05 + 0.5 * trial.lr)
        fall = exp(-speed * step)
        yield ["v", "train/loss", round((2.2 - floor) * fall + floor + hard + noise * (0.3 + fall), 5), at, step]
        yield ["v", "train/accuracy", round(0.99 - hard / 2 - 0.88 * fall - floor / 6 + noise / 12, 5), at, step]
        yield ["v", "lr", trial.lr * min(1, (step + 1) / 30) * (0.5 + 0.5 * cos(3.1 * step / STEPS)), at, step]
        if step % 8 == 7:
            yield ["v", "val/loss", round((2.1 - floor) * fall + floor * 1.25 + hard + noise / 6, 5), at, step]
            yield ["v", "val/accuracy", round(0.985 - hard / 2 - 0.87 * fall - floor / 4 + noise / 30, 5), at, step]


def _date_back(served: Served, run_id: str, trial: Trial) -> None:
    """The clock of a server cannot be set, and a week is long."""
    began = datetime.now(timezone.utc) - timedelta(hours=trial.hours)
    ended = None if trial.name == GOING else began + timedelta(minutes=trial.minutes)
    with served.app.state.context.store.database.write() as connection:
        row = update(run_rows).where(run_rows.c.id == run_id)
        serial = connection.execute(
            row.values(created_at=began, started_at=began, ended_at=ended).returning(run_rows.c.serial)
        ).scalar_one()
        of_run = update(state_rows).where(state_rows.c.run == serial)
        connection.execute(of_run.values(at=began))
        if ended is not None:
            connection.execute(of_run.where(state_rows.c.status.in_(["Completed", "Failed"])).values(at=ended))


if __name__ == "__main__":
    main(*sys.argv[1:])
