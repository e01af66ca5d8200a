"""If these fail, one long text in a request, a log or a file keeps the server or a node runner busy for minutes.

Every regular expression of the project is found in its source and is given long texts that are made to be hard for it:
whatever leads to a repetition in it, then very many rounds of that, then a sign that lets it fail at the end.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import re
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from runyard.cli import options
from runyard.contracts import (
    curated,
    engine_options,
    environment,
    manifest,
    names,
    pack,
    pip_requirements,
    secrets,
    vm_sizes,
)
from runyard.contracts.engines import BUILT_IN
from runyard.environments import relax
from runyard.environments.conda import names as conda_names
from runyard.environments.problem import EnvironmentProblem
from runyard.environments.python import pin
from runyard.environments.uv import failures, requirements
from runyard.node.launch import variables
from runyard.node.outcome import missing_packages as packages
from runyard.node.outcome import tracebacks
from runyard.sdk.environment.requirement_lines import merge, portable
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.submit import git
from runyard.server.middleware.problems import Problem
from runyard.server.requests import labels
from runyard.server.responses import downloads
from runyard.store.assets import environments
from runyard.store.content import wheels
from runyard.store.errors import StoreError
from runyard.store.runs import workspace_settings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import sre_parse  # the only way to see what a pattern is made of

SOURCE = Path(__file__).parent.parent / "src"
LENGTH = 20_000
SECONDS = 0.25
"""Of CPU time: a pattern whose cost grows with the square of the length needs more, any other a few milliseconds."""

METHODS = {"match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
ATOMS = [
    *"a0A_-. \t\n/\\@:;,=<>!~#$%&?*+|'\"()[]{}`^",
    "é",
    "ab",
    "a.",
    "a-",
    "a:",
    "a ",
    " a",
    "://",
    "${",
    "1.",
    "==",
]


class Use(NamedTuple):
    """A pattern in the source, and the method that it is used with."""

    where: str
    pattern: str
    flags: int
    method: str


def uses() -> Iterator[Use]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield from _in_module(path)


def _in_module(path: Path) -> Iterator[Use]:
    text = path.read_text("utf-8")
    if "import re\n" not in text:  # most modules: to parse them takes seconds, for each worker that collects tests
        return
    tree = ast.parse(text)
    named: dict[str, tuple[str, int]] = {}
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Assign) else None
        if isinstance(value, ast.Call) and _called(value) == ("re", "compile") and isinstance(node, ast.Assign):
            for target in node.targets:
                named[getattr(target, "id", "")] = _compiled(value, 1)
    handed_on = set(named)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        owner, method = _called(node)
        where = f"{path.relative_to(SOURCE)}:{node.lineno}"
        if owner in named and method in METHODS:
            handed_on.discard(owner)
            yield Use(where, *named[owner], method)
        elif owner == "re" and method in METHODS:
            yield Use(where, *_compiled(node, 9), method)
    for name in sorted(handed_on):  # to a function that is not seen here
        for method in ("fullmatch", "search"):
            yield Use(f"{path.relative_to(SOURCE)}:{name}", *named[name], method)


def _called(node: ast.Call) -> tuple[str, str]:
    function = node.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return function.value.id, function.attr
    return "", ""


def _compiled(call: ast.Call, flags_at: int) -> tuple[str, int]:
    flags = next((each.value for each in call.keywords if each.arg == "flags"), None)
    flags = flags or (call.args[flags_at] if len(call.args) > flags_at else None)
    names = re.findall(r"re\.(\w+)", ast.unparse(flags)) if flags is not None else []
    return _text(call.args[0]), sum(int(getattr(re, name)) for name in names)


def _text(node: ast.expr) -> str:
    """The text of a pattern; what is put into it only at run time is stood for by a word."""
    if isinstance(node, ast.Constant):
        return node.value.decode("latin-1") if isinstance(node.value, bytes) else str(node.value)
    if isinstance(node, ast.BinOp):
        return _text(node.left) + _text(node.right)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(each) for each in node.values)
    return "word"


def loops(parsed: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """For each repetition in a pattern: a text that leads to it, and one round of it."""
    for operation, argument in parsed:
        for inner in _inner(argument):
            yield from loops(inner, before)
        if operation in _REPEATS:
            for unit in _samples(argument[2]):
                yield before, unit
        before += _samples([(operation, argument)])[0]


def _inner(argument: Any) -> Iterator[Any]:
    """The patterns inside an element of a pattern: of a group, a repetition, the sides of an `|`."""
    for part in argument if isinstance(argument, (tuple, list)) else ():
        if isinstance(part, sre_parse.SubPattern):
            yield part
        elif isinstance(part, list):
            yield from (each for each in part if isinstance(each, sre_parse.SubPattern))


def _samples(parsed: Any) -> list[str]:
    """Texts that a pattern matches; the first is as short as it is simple."""
    found = [""]
    for operation, argument in parsed:
        ends = _of_element(operation, argument)
        found = list(dict.fromkeys(start + end for start in found for end in ends))[:6]
    return found


def _of_element(operation: Any, argument: Any) -> list[str]:
    if operation is sre_parse.LITERAL:
        return [chr(argument)]
    if operation is sre_parse.ANY:
        return ["a", " ", "."]
    if operation in (sre_parse.IN, sre_parse.NOT_LITERAL):
        return [each for each in 'a 0-.:/=+,["\n*' if _fits(each, operation, argument)] or ["a"]
    if operation in _REPEATS:
        return _samples(argument[2])
    if operation is sre_parse.BRANCH:
        return [sample for side in argument[1] for sample in _samples(side)[:2]]
    if operation is sre_parse.SUBPATTERN:
        return _samples(argument[3])
    return [""]


def _fits(character: str, operation: Any, argument: Any) -> bool:
    if operation is sre_parse.NOT_LITERAL:
        return bool(ord(character) != argument)
    negated = argument[0][0] is sre_parse.NEGATE
    return negated != any(_in_class(character, kind, value) for kind, value in argument[negated:])


def _in_class(character: str, kind: Any, value: Any) -> bool:
    if kind is sre_parse.LITERAL:
        return bool(ord(character) == value)
    if kind is sre_parse.RANGE:
        return bool(value[0] <= ord(character) <= value[1])
    sign = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}[str(value).rpartition("_")[2]]
    return (re.match(sign, character) is None) == ("NOT" in str(value))


_REPEATS = (sre_parse.MAX_REPEAT, sre_parse.MIN_REPEAT)


def texts(use: Use) -> Iterator[str]:
    found = list(dict.fromkeys(loops(sre_parse.parse(use.pattern, use.flags))))
    for before, unit in [*found, *(("", atom) for atom in ATOMS)]:
        if unit:
            repeated = before + (unit * (LENGTH // len(unit) + 1))[:LENGTH]
            for after in ("", "\x00", " \x00"):
                yield repeated + after


@pytest.mark.parametrize("use", list(uses()), ids=lambda use: f"{use.where} {use.method}")
def test_a_pattern_takes_no_more_than_a_moment(use: Use) -> None:
    method = getattr(re.compile(use.pattern, use.flags), use.method)
    for text in texts(use):
        arguments = ("", text) if use.method in ("sub", "subn") else (text,)
        gc.disable()  # a collection takes as long as all that other tests have left in this process
        began = time.thread_time()
        found = method(*arguments)
        if use.method == "finditer":
            list(found)
        took = time.thread_time() - began
        gc.enable()
        assert took < SECONDS, f"{use.pattern!r} on {text[:60]!r}..."


REFUSALS = (
    *(names.BadName, manifest.BadManifest, pack.BadPack, engine_options.BadOptions, EnvironmentProblem),
    *(UserErrorException, Problem, StoreError, typer.BadParameter),
)
LONG = 100_000
MOMENT = 2.0
"""Seconds of CPU time for a text of that length: a hundred times what the slowest needs."""

LINES = [
    "Traceback (most recent call last):\n",
    "  | Traceback (most recent call last):\n",
    "  + Exception Group Traceback (most recent call last):\n",
    "Exception ignored in\nTraceback (most recent call last):\nValueError: x\n",
    'Traceback (most recent call last):\n  File "a.py", line 1, in f\n',
    "SyntaxError: x\n",
    "  +-+---------------- 1 ----------------\n",
    "because a was not found in the, you require a==1 and b==2, we can conclude ",
    "https://me:password@host/t/token/x?sig=secret ",
    "numpy==1.0\n",
    "a[b]>=1,<2;c\n",
    "RUN echo \\\n",
    '["v","m",1.0,2.0,null]\n',
    '["a","file","' + "0" * 64 + '",1,false,null]\n',
    "${RUNYARD_SECRET_0123}",
    "tag=value&",
    "*a",
    "a\n",
    " \n",
]


def _definition(text: str) -> dict[str, Any]:
    packages = {"channels": [text], "dependencies": [text, f"python={text}", {"pip": [text, f"--index-url {text}"]}]}
    return {"name": text, "python": {"condaDependencies": packages}, "docker": {"baseDockerfile": text}}


def _document(text: str) -> None:
    veiled = secrets.veil(_definition(text), lambda value: f"{secrets.PREFIX}00")
    secrets.mask_all(veiled)
    environment.specification_of(veiled).key()
    environment.content_hash(veiled)
    secrets.reveal(text, dict.fromkeys(secrets.names_in(veiled), "x"))


def _packages(text: str) -> None:
    specification = environment.specification_of(_definition(text))
    conda_names.needs_conda(specification)
    conda_names.requirements(specification)
    failures.explain(text, specification)
    relax.Line.of(text, text)
    requirements.options_of(specification.options)
    requirements.with_variables(text, {})


READERS: dict[str, Callable[[str], object]] = {
    "definitions": _document,
    "packages of an environment": _packages,
    "pips lines": lambda text: merge([portable(text), *text.splitlines()[:100]]),
    "a line of pips": lambda text: (pip_requirements.parse(text), pip_requirements.option(f"--{text}")),
    "a pinned Python": pin.parse,
    "names": lambda text: names.check("run", text),
    "names of files": names.check_file,
    "names of curated environments": lambda text: curated.find(f"AzureML-{text}"),
    "sizes of machines": vm_sizes.suggest,
    "options of engines": lambda text: BUILT_IN["slurm"].check_options({text: text}),
    "manifests": lambda text: manifest.parse(text.encode()),
    "headers of packs": lambda text: pack.parse_header(text.encode()),
    "addresses of repositories": git.without_credentials,
    "logs with tracebacks": tracebacks.find_last,
    "variables in arguments": lambda text: variables.expand(text, {"a": "b"}),
    "modules that are missing": lambda text: packages.package_for(
        packages.missing_module(f"No module named {text}") or text
    ),
    "names of environments": environments.check_name,
    "names of wheels": wheels.check_name,
    "settings": workspace_settings._bytes,
    "labels": lambda text: labels.pairs([text]),
    "ranges": lambda text: downloads._range(f"bytes={text}", 10),
    "sizes on the command line": lambda text: options.size(text, "--limit"),
    "times on the command line": lambda text: options.seconds(text, "--timeout"),
}


@pytest.mark.parametrize("reader", list(READERS))
def test_a_long_text_takes_no_more_than_a_moment(reader: str) -> None:
    for unit in [*ATOMS, *LINES]:
        text = (unit * (LONG // len(unit) + 1))[:LONG]
        began = time.thread_time()
        with contextlib.suppress(*REFUSALS):
            READERS[reader](text)
        assert time.thread_time() - began < MOMENT, f"{reader}: {unit!r}"
