"""The options of each engine: what a compute target may configure about its cluster, and in which form.

Whether a value is valid for the cluster (a partition that exists, an address that answers) is for the engine to find
out; here is only what can be checked without contacting it.
"""

from __future__ import annotations

import difflib
from typing import Any, Mapping, NamedTuple

from runyard.contracts.compute import ENGINES, LOCAL_ENGINE, RAY, SLURM

TEXT, PATH, NUMBERS, SECONDS, SWITCH = "a text", "a whole path", "numbers by name", "seconds", "true or false"

LONGEST = 1000
"""Characters of a value."""


class Option(NamedTuple):
    name: str
    form: str
    help: str
    required: bool = False


_PYTHON = Option("python", TEXT, "the Python that becomes a node runner on the nodes; python3 without it")

OPTIONS: Mapping[str, tuple[Option, ...]] = {
    LOCAL_ENGINE: (),
    RAY: (
        Option("address", TEXT, "where the cluster's head listens: host:port", required=True),
        Option("namespace", TEXT, "the namespace for what Runyard makes in the cluster"),
        Option("resources", NUMBERS, "custom resources that each node of a run asks for"),
        Option("autoscaling", SWITCH, "whether the cluster gets more nodes when they are asked for"),
        Option("ray_python", TEXT, "the Python beside the server that has Ray; the server's own without it"),
        Option("token_file", PATH, "the file with the cluster's token, where it asks for one"),
        _PYTHON,
    ),
    SLURM: (
        Option("partition", TEXT, "the partition; the cluster's default without it"),
        Option("account", TEXT, "whom the jobs are charged to"),
        Option("qos", TEXT, "the quality of service"),
        Option("constraint", TEXT, "features that the nodes must have"),
        Option("gres", TEXT, "generic resources of each node, such as gpu:2; from vm_size without it"),
        Option("time", TEXT, "the time limit of runs that have none of their own, such as 1-00:00:00"),
        Option("exclusive", SWITCH, "whether nodes are shared with nobody"),
        Option("sbatch", TEXT, "further arguments of sbatch"),
        Option("time_margin", SECONDS, "how much longer than its script a job may last; 600 without it"),
        Option("commands", PATH, "the folder of sbatch, squeue and the others, when they are not on PATH"),
        Option("conf", PATH, "Slurm's configuration file, when it is not where Slurm looks for it"),
        _PYTHON,
    ),
}


class BadOptions(ValueError):
    """Options that the engine cannot be given; the message names them, and what to do."""


def check(engine: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that hold something, checked.

    >>> check("slurm", {"partition": "gpu", "account": None})
    {'partition': 'gpu'}
    """
    if engine not in ENGINES:
        raise BadOptions(f"There is no engine {engine!r}. The engines are: {', '.join(ENGINES)}.")
    known = {option.name: option for option in OPTIONS[engine]}
    given = {name: value for name, value in options.items() if value not in (None, "", {})}
    for name, value in given.items():
        if name not in known:
            raise BadOptions(_unknown(engine, name, list(known)))
        given[name] = _read(known[name].form, value)
        problem = _wrong_form(known[name].form, given[name])
        if problem:
            raise BadOptions(f"{value!r} is no {name} for the engine {engine}: {problem}.")
    for option in known.values():
        if option.required and option.name not in given:
            raise BadOptions(f"The engine {engine} needs the option {option.name}: {option.help}.")
    return given


def _unknown(engine: str, name: str, known: list[str]) -> str:
    if not known:
        return f"The engine {engine} takes no options, so not {name!r} either."
    near = difflib.get_close_matches(name, known, 1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    return f"The engine {engine} has no option {name!r}.{meant} It takes: {', '.join(known)}."


def _read(form: str, value: Any) -> Any:
    """The value of an option that was given on a command line as text."""
    if form == SWITCH and isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower(), value)
    if form == SECONDS and isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        return int(value)
    return value


def _wrong_form(form: str, value: object) -> str:
    """What is wrong with a value, or nothing."""
    if form == NUMBERS:
        if not isinstance(value, Mapping) or not all(_is_amount(each) for each in value.values()):
            return 'name resources with amounts above 0, such as {"special": 1}'
        return ""
    if form == SWITCH:
        return "" if isinstance(value, bool) else "it is true or false"
    if form == SECONDS:
        whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
        return "" if whole else "it is a number of seconds from 0 on"
    if not isinstance(value, str) or len(value) > LONGEST or not value.isprintable() or not value.strip():
        return f"it is {form}, in one line"
    if form == PATH and not value.startswith("/"):
        return "give the whole path, from / on"
    return ""


def _is_amount(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < float("inf")
