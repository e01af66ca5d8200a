"""Environments of packages from PyPI, built by uv: two calls, `uv venv` and `uv pip install`, and nothing else."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from runyard.contracts.environment import conda_name
from runyard.contracts.home import home
from runyard.environments import layers, tools
from runyard.environments.builder import Builder, Built, Order
from runyard.environments.conda import names
from runyard.environments.problem import EnvironmentProblem
from runyard.environments.python.choice import Chooser
from runyard.environments.python.interpreters import Interpreter
from runyard.environments.relax import RELAXABLE, Line, Relaxation
from runyard.environments.uv import failures
from runyard.environments.uv.command import Uv
from runyard.environments.uv.requirements import options_of, package_line


@dataclass
class UvBuilder(Builder):
    """`memory`: the folder that remembers the machine's Pythons. `otherwise`: who builds what PyPI does not have."""

    memory: Path | None = None
    otherwise: Builder | None = None
    name: str = field(default="uv", init=False)

    def build(self, order: Order, folder: Path) -> Built:
        uv = Uv.for_order(order, options_of(order.specification.options))
        conda = self.otherwise if tools.find_conda() is not None else None
        try:
            return self._build(uv, folder, relax_python=order.relax and conda is None)
        except EnvironmentProblem as problem:
            if conda is None or problem.code not in ("CondaNeeded", "PythonNotFound"):
                raise
            order.report(f"uv cannot build this ({problem.code}): building it with conda.")
            _empty(folder)
            return conda.build(order, folder)

    def _build(self, uv: Uv, folder: Path, relax_python: bool) -> Built:
        order = uv.order
        chooser = Chooser(uv.program, self.memory or home() / "cache", uv.variables, order.report, order.check)
        choice = chooser.choose(order.specification.python, relax_python)
        for note in (*choice.notes, *choice.changes, *_notes(uv)):
            order.report(note)
        order.report(f"Python {choice.interpreter.text}: {choice.interpreter.path}")
        made = uv.run("venv", "--quiet", "--no-project", "--python", choice.interpreter.path, folder)
        if not made.ok:
            raise failures.explain(made.output, order.specification)
        installed = _install(uv, choice.interpreter, folder)
        return Built(
            interpreter=str(folder / "bin" / "python"),
            folder=str(folder),
            python=choice.interpreter.text,
            changes=[*choice.changes, *installed.changes],
            variables={"VIRTUAL_ENV": str(folder)},
            layers=installed.layers,
        )


class Installed(NamedTuple):
    """What differs from the specification: what was relaxed, and the lines in whose place a layer stands."""

    changes: list[str]
    layers: list[str]


def install_packages(order: Order, interpreter: Interpreter, folder: Path) -> Installed:
    """Install the pip part of a specification into an environment that is there."""
    uv = Uv.for_order(order, options_of(order.specification.options))
    return _install(uv, interpreter, folder)


def _install(uv: Uv, interpreter: Interpreter, folder: Path) -> Installed:
    """Install what the specification lists: as it is, or relaxed where uv refused and the order allows it."""
    order = uv.order
    private = Path(tempfile.mkdtemp(prefix=".requirements-", dir=folder))
    try:
        lines = {
            line: package_line(wanted, order, private)
            for line, wanted in failures.lines_of(order.specification).items()
        }
        layered = layers.left_out(uv, folder / "bin" / "python", private, lines)
        kept = {line: wanted for line, wanted in lines.items() if line not in layered}
        changes = _install_lines(uv, interpreter, folder, private, kept)
        _add_pip(uv, interpreter, folder / "bin" / "python")
        return Installed(changes, layered)
    finally:
        shutil.rmtree(private, ignore_errors=True)


def _install_lines(uv: Uv, interpreter: Interpreter, folder: Path, private: Path, lines: dict[str, str]) -> list[str]:
    if not lines and not any(line.startswith("-e") for line in uv.options.lines):
        return []
    order, python = uv.order, folder / "bin" / "python"
    loosened = [Line.of(line, wanted) for line, wanted in lines.items()]
    relaxed = Relaxation(uv, python, interpreter.minor, private, order.report, loosened)
    if order.relax:
        relaxed.without_conda(order.specification.conda)
    elif names.needs_conda(order.specification):
        raise failures.needs_conda(names.needs_conda(order.specification), "not on PyPI")

    def explain(output: str) -> EnvironmentProblem:
        return failures.explain(output, order.specification, relaxed.asked)

    while True:
        finished = uv.install(python, relaxed.packages, private, *relaxed.arguments)
        if finished.ok:
            return _told(order, [*_channels_left_out(order), *relaxed.changes(finished.output)])
        problem = explain(_whole_reason(uv, python, private, finished.output))
        if not order.relax or problem.code not in RELAXABLE:
            raise problem
        order.report("These packages cannot be had as they are: looking for the nearest that can.")
        relaxed.loosen(finished.output, explain)


def _whole_reason(uv: Uv, python: Path, private: Path, output: str) -> str:
    """uv's output; where a package was not found, with the refusal of an index, which uv reports only of the first."""
    failure = failures.understand(output)
    if failure.code != "PackageNotFound":
        return output
    again = uv.resolve(python, [failure.text], private, "--no-deps", "--index-strategy=first-index")
    return again.output if failures.understand(again.output).code == "IndexRefused" else output


def _channels_left_out(order: Order) -> list[str]:
    """The channels of a relaxed specification: the rest of this module takes packages from PyPI alone."""
    needing = names.needs_conda(order.specification)
    return [f"{each} → left out: no conda was found" for each in needing if each not in order.specification.conda]


def _told(order: Order, changes: list[str]) -> list[str]:
    for change in changes:
        order.report(f"Relaxed: {change}")
    return changes


def _notes(uv: Uv) -> list[str]:
    specification = uv.order.specification
    needing = names.needs_conda(specification)
    taken = [line for line in specification.conda if conda_name(line) != names.PIP and line not in needing]
    notes = [f"Taken from PyPI instead of conda: {', '.join(taken)}"] if taken else []
    if uv.options.left_out:
        notes.append(f"Options of pip that uv does without: {', '.join(uv.options.left_out)}")
    return notes


def _add_pip(uv: Uv, interpreter: Interpreter, python: Path) -> None:
    """pip itself, where a conda file names it: a script may call it. uv has no need of it, so without it is no failure.

    It is not compiled, which would cost more than all the rest of a small environment.
    """
    wanted = [line for line in uv.order.specification.conda if conda_name(line) == names.PIP]
    if not wanted:
        return
    asked = names.requirement(wanted[0])
    beside = Path(interpreter.path).parent.parent / "lib" / f"python{interpreter.minor}" / "ensurepip" / "_bundled"
    wheel = next(beside.glob("pip-*.whl"), None) if asked == names.PIP else None
    quick = replace(uv, variables={"UV_HTTP_RETRIES": "0", **uv.variables})
    arguments = ["--python", python, "--quiet", *uv.arguments, wheel or asked]
    finished = quick.run("pip", "install", *arguments, report=lambda line: None)
    if not finished.ok:
        uv.order.report(f"{wanted[0]} could not be installed; the packages are there all the same.")


def _empty(folder: Path) -> None:
    for each in folder.iterdir():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()
