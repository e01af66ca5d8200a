"""The two sites that are looked at: where their pages are, and how one sees that they are drawn."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

ON_TOP = """(name) => {
  const runs = [...document.querySelectorAll("a")].filter((each) => /^run-[0-9]+$/.test(each.textContent.trim()));
  const top = (each) => each.getBoundingClientRect().top;
  return runs.sort((one, other) => top(one) - top(other))[0]?.textContent.trim() === name;
}"""


@dataclass(frozen=True)
class Site:
    """Conditions are functions in JavaScript: of the table, given the name of the run that comes first; of a page with
    so many charts in sight; of a chart with so many lines; of a chart whose last value is that."""

    runs: str
    search: str  # a selector of the field that filters
    question: Callable[[float], str]
    run: Callable[[str], str]
    compare: Callable[[Sequence[str]], str]
    charts: str
    lines: str
    value: str
    table: str = ON_TOP


def studio(url: str) -> Site:
    at = f"{url}/studio/local"
    return Site(
        runs=f"{at}/runs",
        search="#filter",
        question=lambda bound: f"metrics.loss<{bound:.4f}",
        run=lambda run: f"{at}/runs/{run}",
        compare=lambda runs: f"{at}/compare?runs={','.join(runs)}",
        charts="""(least) => {
          const all = [...document.querySelectorAll(".curve-place")];
          const seen = all.filter((each) => each.getBoundingClientRect().top < innerHeight);
          return seen.length >= least && seen.every((each) => each.querySelector("figure[data-drawn]")
            && !each.querySelector("canvas").ariaLabel?.includes("no points"));
        }""",
        lines="""(least) => [...document.querySelectorAll(".curve-place canvas.chart-canvas")]
          .some((each) => Number(each.ariaLabel?.match(/; ([0-9]+) more[.]/)?.[1]) + 5 >= least)""",
        value="""(value) => [...document.querySelectorAll("canvas")]
          .some((each) => each.ariaLabel?.includes(`the last ${value}.`))""",
    )


def mlflow(url: str, experiment: str) -> Site:
    at = f"{url}/#"

    def compare(runs: Sequence[str]) -> str:
        said = {"runs": list(runs), "metric": "loss", "experiments": [experiment], "plot_metric_keys": ["loss"]}
        return f"{at}/metric?" + "&".join(f"{key}={quote(json.dumps(value))}" for key, value in said.items())

    return Site(
        runs=f"{at}/experiments/{experiment}/runs",
        search='input[placeholder^="metrics."]',
        question=lambda bound: f"metrics.loss < {bound:.4f}",
        run=lambda run: f"{at}/experiments/{experiment}/runs/{run}/model-metrics",
        compare=compare,
        charts="""(least) => {
          const all = [...document.querySelectorAll(".js-plotly-plot")];
          const seen = all.filter((each) => each.getBoundingClientRect().top < innerHeight);
          return seen.length >= least && seen.every((each) => each.querySelector(".trace path"));
        }""",
        lines="""(least) => [...document.querySelectorAll(".js-plotly-plot")]
          .some((each) => each.querySelectorAll(".scatterlayer path.js-line").length >= least)""",
        value="""(value) => [...document.querySelectorAll(".js-plotly-plot")]
          .some((each) => each.data?.some((line) => line.y && [...line.y].at(-1) === value))""",
    )
