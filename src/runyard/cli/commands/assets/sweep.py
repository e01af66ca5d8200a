"""`runyard sweep`: many runs of a script with sampled parameters, the best of them, and more of them."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli.commands.submit import _conclude, _source_and_script, _user_managed, experiment_name
from runyard.cli.groups import group
from runyard.cli.options import JsonOption, RunArgument, pairs
from runyard.cli.output import formatting, screen
from runyard.cli.output.summary import given, sweep_counts, sweep_lines, without_definition
from runyard.cli.parameters import Argument, Option, bad_parameter
from runyard.cli.suggestions import Suggesting

if TYPE_CHECKING:
    from runyard.cli.api import Api
    from runyard.contracts.documents import RunDocument

START = "start"
POLICIES = {"none": "Default", "bandit": "Bandit", "median": "MedianStopping", "truncation": "TruncationSelection"}
SAMPLINGS = {"random": "RANDOM", "grid": "GRID", "bayesian": "BayesianOptimization", "sobol": "RANDOM"}
SLACK = 0.1


class SweepCommands(Suggesting):
    """`runyard sweep train.py ...` is short for `runyard sweep start train.py ...`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = [START, *args]
        return super().parse_args(ctx, args)


def start(
    script: Annotated[
        str, Argument(metavar="SCRIPT", help="The script to run. Its folder goes with it.", show_default=False)
    ],
    arguments: Annotated[
        list[str] | None,
        Argument(metavar="ARGS", help="What the script gets before the parameters.", show_default=False),
    ] = None,
    param: Annotated[
        list[str] | None,
        Option(
            "--param",
            "-p",
            metavar="NAME=EXPRESSION",
            help="What to sample, such as lr=loguniform(-6,-1) or batch=choice(25,50); repeat.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[str, Option("--metric", "-m", help="The metric to compare.", show_default=False)] = "",
    maximize: Annotated[bool, Option("--max/--min", help="Whether more of it is better, or less.")] = True,
    runs: Annotated[int, Option("--runs", min=1, help="How many children at most.")] = 20,
    at_once: Annotated[int, Option("--at-once", min=1, help="How many run at the same time.")] = 4,
    minutes: Annotated[int, Option("--minutes", min=1, help="Stop after so many.")] = 10_080,
    sampling: Annotated[
        str, Option("--sampling", help="random, grid, bayesian, sobol, or a class as module:Class.")
    ] = "random",
    seed: Annotated[int | None, Option("--seed", help="The same values each time.", show_default=False)] = None,
    policy: Annotated[
        str, Option("--policy", help="none, bandit, median, truncation, asha, or a class as module:Class.")
    ] = "none",
    policy_option: Annotated[
        list[str] | None,
        Option(
            "--policy-option",
            metavar="KEY=VALUE",
            help="Such as slack_factor=0.2 or evaluation_interval=2; repeat.",
            show_default=False,
        ),
    ] = None,
    compute: Annotated[str, Option("--compute", help="The compute target to run on.")] = "local",
    experiment: Annotated[
        str | None, Option("--experiment", "-e", help="Default: named like the folder.", show_default=False)
    ] = None,
    source: Annotated[
        Path | None,
        Option(
            "--source", metavar="DIR", help="The folder to run in. Default: that of the script.", show_default=False
        ),
    ] = None,
    python: Annotated[
        str | None, Option("--python", metavar="PATH", help="The interpreter.", show_default=False)
    ] = None,
    follow: Annotated[bool, Option("--follow", "-f", help="Show its log until it ends.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Start a sweep: runyard sweep train.py --param lr=uniform(0,1) --metric accuracy --runs 20"""
    if not param:
        raise bad_parameter("name what to sample, such as --param lr=loguniform(-6,-1).", param_hint="--param")
    if not metric:
        raise bad_parameter("name the metric that the script logs, such as --metric accuracy.", param_hint="--metric")
    space = _space(param)
    folder, inside = _source_and_script(script, source)

    from runyard.cli import api
    from runyard.sdk.experiment import Experiment
    from runyard.sdk.hyperdrive.config import HyperDriveConfig, PrimaryMetricGoal
    from runyard.sdk.hyperdrive.policy import EarlyTerminationPolicy
    from runyard.sdk.hyperdrive.run import HyperDriveRun
    from runyard.sdk.hyperdrive.sampling import HyperParameterSampling
    from runyard.sdk.submit.script_run_config import ScriptRunConfig
    from runyard.sdk.workspace.workspace import Workspace

    workspace = Workspace.from_config()
    config = HyperDriveConfig(
        HyperParameterSampling(SAMPLINGS.get(sampling, sampling), space, _properties(sampling, seed)),
        metric,
        PrimaryMetricGoal.MAXIMIZE if maximize else PrimaryMetricGoal.MINIMIZE,
        max_total_runs=runs,
        max_concurrent_runs=at_once,
        max_duration_minutes=minutes,
        policy=EarlyTerminationPolicy(*_policy(policy, policy_option or [])),
        run_config=ScriptRunConfig(
            str(folder),
            inside,
            list(arguments or ()),
            compute_target=compute,
            environment=_user_managed(python),
        ),
    )
    place = Experiment(workspace, experiment or experiment_name(folder), _create_in_cloud=False)
    made = place.submit(config)
    assert isinstance(made, HyperDriveRun)
    server = api.Api(workspace.service)
    _tell(server, made.id, follow, as_json)


def _tell(server: Api, run_id: str, follow: bool, as_json: bool) -> None:
    submitted = server.run(run_id)
    if as_json and not follow:
        screen.document(without_definition(submitted))
        return
    if as_json:
        screen.event({"event": "submitted", "run": without_definition(submitted)})
    else:
        print(f"Submitted {screen.heading(run_id)}")
        print(submitted["web_url"], flush=True)
    if not follow:
        print("Next:")
        for command in ("sweep show", "logs -f", "sweep best", "sweep stop"):
            print(f"  {formatting.program()} {command} {run_id}")
        return
    from runyard.cli.commands import logs
    from runyard.contracts.history import SWEEP_LOG

    ended = logs.follow_run(server, run_id, SWEEP_LOG, as_json)
    if not as_json:
        for line in sweep_lines(server.sweep(run_id)):
            print(line)
    _conclude(server, ended, as_json)


def ls(
    limit: Annotated[int, Option("--limit", "-n", min=1, help="How many sweeps at most.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """List sweeps, newest first: how far they are, and the best value so far."""
    import itertools

    from runyard.cli import api

    server = api.connect()
    found = list(itertools.islice(server.runs(type="hyperdrive", children=True), limit))
    standings = [server.sweep(run["id"]) for run in found]
    if as_json:
        screen.document([{**run, "sweep": each} for run, each in zip(found, standings, strict=True)])
    elif not found:
        print(f"No sweeps. Next: {formatting.program()} sweep train.py --param 'lr=uniform(0,1)' --metric accuracy")
    else:
        rows = [
            (run["id"], run["status"], run["experiment"], _best_value(each), sweep_counts(each))
            for run, each in zip(found, standings, strict=True)
        ]
        screen.table(("SWEEP", "STATUS", "EXPERIMENT", "BEST", "CHILDREN"), rows, status_column=1)


def show(run: RunArgument, as_json: JsonOption = False) -> None:
    """Show one sweep: its children, the best one first, and why some were stopped."""
    from runyard.cli import api

    server = api.connect()
    found = server.find(run)
    standing = server.sweep(found["id"])
    if as_json:
        screen.document(standing)
        return
    print(f"{screen.heading(found['id'])}  {screen.status(found['status'])}  {found['reason'] or ''}".rstrip())
    print(f"  {standing['goal']} {standing['metric']}: {sweep_counts(standing)}")
    if standing["trials"]:
        print(f"  child N is {found['id']}_N")
    rows = [
        (
            str(each["number"]),
            each["status"] or "Deleted",
            "" if each["best"] is None else formatting.number(each["best"]),
            str(each["intervals"]),
            given(each["parameters"]),
            each["verdict"] or "",
        )
        for each in in_order(standing)
    ]
    screen.table(("CHILD", "STATUS", "BEST", "LOGS", "PARAMETERS", "WHY"), rows, status_column=1)


def best(run: RunArgument, as_json: JsonOption = False) -> None:
    """Show the best child of a sweep, its value and its parameters."""
    from runyard.cli import api, errors

    server = api.connect()
    standing = server.sweep(server.find(run)["id"])
    found = next((each for each in in_order(standing) if each["best"] is not None), None)
    if found is None:
        raise errors.CommandError(
            f"No child has logged {standing['metric']!r} so far.",
            "`runyard sweep show` lists the children.",
            errors.NOT_FOUND,
            "no_best",
        )
    if as_json:
        screen.document(found)
        return
    print(f"{screen.heading(found['run_id'])}  {standing['metric']} {formatting.number(found['best'])}")
    for name, value in found["parameters"].items():
        print(f"  {name} {json.dumps(value)}")


def stop(run: RunArgument, as_json: JsonOption = False) -> None:
    """Stop a sweep with all of its children."""
    from runyard.cli.commands import runs

    runs.stop(run, as_json=as_json)


def extend(
    run: RunArgument,
    more: Annotated[int, Option("--runs", min=1, help="How many more children.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Let a sweep have more children, also one that has ended."""
    from runyard.cli import api
    from runyard.client.http import quote

    server = api.connect()
    found: RunDocument = server.client.post(f"/api/runs/{quote(server.find(run)['id'])}/sweep/extend", {"runs": more})
    if as_json:
        screen.document(found)
    else:
        print(f"{found['id']} {screen.status(found['status'])}: {more} more children at most")


def in_order(standing: dict[str, Any]) -> list[dict[str, Any]]:
    """The children of a sweep, the best one first, those without a value last."""
    known = [each for each in standing["trials"] if each["best"] is not None]
    known.sort(key=lambda each: float(each["best"]), reverse=standing["goal"] == "maximize")
    return [*known, *(each for each in standing["trials"] if each["best"] is None)]


def _best_value(standing: dict[str, Any]) -> str:
    first = in_order(standing)[:1]
    return formatting.number(first[0]["best"]) if first and first[0]["best"] is not None else ""


def _space(given: list[str]) -> dict[str, list[Any]]:
    space: dict[str, list[Any]] = {}
    for name, expression in map(_parameter, given):
        if name in space:
            raise bad_parameter(f"{name!r} is given twice.", param_hint="--param")
        space[name] = expression
    return space


def _parameter(given: str) -> tuple[str, list[Any]]:
    """A parameter and its expression. It is read, not run.

    >>> _parameter("lr=loguniform(-6, -1)")
    ('lr', ['loguniform', [-6, -1]])
    """
    name, equals, text = given.partition("=")
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if not (equals and isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.keywords):
            raise ValueError
        values = [ast.literal_eval(each) for each in call.args]
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise bad_parameter(
            f"{given!r} is no parameter: write NAME=EXPRESSION, such as 'lr=loguniform(-6,-1)' or 'batch=choice(1,2)'.",
            param_hint="--param",
        ) from None
    return name, [call.func.id, [values] if call.func.id == "choice" else values]


def _properties(sampling: str, seed: int | None) -> dict[str, Any]:
    found: dict[str, Any] = {} if seed is None else {"seed": seed}
    return {**found, "rule": "sobol"} if sampling == "sobol" else found


def _policy(name: str, options: list[str]) -> tuple[str, dict[str, Any]]:
    known = POLICIES.get(name.lower(), name.upper() if name.lower() == "asha" else name)
    given: dict[str, Any] = {}
    for key, text in pairs(options, "--policy-option").items():
        try:
            given[key] = json.loads(text or "")
        except ValueError:
            given[key] = text
    if known == "Bandit" and not {"slack_factor", "slack_amount"} & set(given):
        given["slack_factor"] = SLACK
    return known, given


app = group("sweep", "Many runs of a script with sampled parameters.", SweepCommands)
app.command(name=START)(start)
app.command()(ls)
app.command()(show)
app.command()(best)
app.command()(stop)
app.command()(extend)
