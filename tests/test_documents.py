"""The documents tell the truth: links lead somewhere, commands and options exist, the README's code is the demo's."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from runyard.cli.commands.assets.sweep import START, SweepCommands
from runyard.cli.main import app
from runyard.client.server_process import stop_server

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob(".github/**/*.md")])

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(runyard [^`\n]*)`")
INDENTED = re.compile(r"^ {4}(?:\$ )?(runyard .*?)(?: {3}.*)?$", re.MULTILINE)

each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


def blocks(document: Path, language: str) -> list[str]:
    return [body for name, body in BLOCK.findall(document.read_text("utf-8")) if name == language]


def named_commands(document: Path) -> Iterator[list[str]]:
    """Every call of `runyard` in a console block, an indented one, or between backticks, as words."""
    lines = [line for body in blocks(document, "console") for line in body.splitlines()]
    calls = [line[2:] for line in lines if line.startswith("$ runyard")]
    for calling in (INLINE, INDENTED):
        calls += calling.findall(document.read_text("utf-8"))
    for call in calls:
        yield shlex.split(call)[1:]


@each_document
def test_relative_links_lead_to_a_file(document: Path) -> None:
    for target in LINK.findall(document.read_text("utf-8")):
        if "://" not in target and not target.startswith("#"):
            assert (document.parent / target.partition("#")[0]).exists(), f"{document.name} links to {target}"


@each_document
def test_commands_and_their_options_exist(document: Path) -> None:
    tree: Any = get_command(app)
    for words in named_commands(document):
        before = words[: words.index("--")] if "--" in words else words
        command = tree
        for word in before:
            commands = getattr(command, "commands", None)
            if commands is None or word.startswith("-"):
                break
            if word not in commands and isinstance(command, SweepCommands):
                command = commands[START]
                break
            assert word in commands, f"{document.name} names `runyard {' '.join(before)}`"
            command = commands[word]
        known = {option for parameter in command.params for option in [*parameter.opts, *parameter.secondary_opts]}
        known |= {"--help", "-h"}
        for word in before:
            if word.startswith("-") and word != "-":
                assert word.partition("=")[0] in known, f"{document.name}: `runyard {' '.join(words)}`"


@each_document
def test_python_in_the_documents_can_be_parsed(document: Path) -> None:
    for body in blocks(document, "python"):
        ast.parse(body)


BEFORE = """
import os
from azureml.core import Environment, Experiment, Run, ScriptRunConfig, Workspace

def write(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as file:
        file.write(text)

write("project/train.py", "import os; os.makedirs('outputs', exist_ok=True); open('outputs/model.json', 'w')")
write("notes.txt", "notes")
write("plot.png", "a picture")
write("plots/one.png", "a picture")
run = Experiment(Workspace.from_config(), "my_experiment").submit(ScriptRunConfig("project", script="train.py"))
run.wait_for_completion()
"""
AFTER = """
for experiment in Workspace.from_config().experiments.values():
    for each in experiment.get_runs():
        each.wait_for_completion(raise_on_error=False)
"""


@pytest.mark.parametrize("name", ["quickstart", "submit", "follow", "metrics", "interactive", "delete"])
def test_the_python_of_a_page_runs_from_top_to_bottom(name: str, home: Path, tmp_path: Path) -> None:
    """A block that begins with a path in a comment is that file; all others are one program."""
    parts = [BEFORE]
    for body in blocks(ROOT / "docs" / f"{name}.md", "python"):
        file = re.match(r"# (\S+\.py)\n", body)
        parts.append(f"write({file[1]!r}, {body!r})" if file else body)
    try:
        done = subprocess.run(
            [sys.executable, "-c", "\n".join([*parts, AFTER])],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
    finally:
        stop_server(home)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_command_is_in_the_reference() -> None:
    tree: Any = get_command(app)
    reference = (ROOT / "docs" / "cli.md").read_text("utf-8")
    for name, command in tree.commands.items():
        for inner in getattr(command, "commands", None) or [""]:
            assert f"`runyard {name} {inner}".rstrip() in reference


def test_the_code_of_the_readme_is_the_code_of_the_demo() -> None:
    """`make demo` runs this code, so what the README shows is known to work."""
    shown = blocks(ROOT / "README.md", "python")[0]
    demo = (ROOT / "examples" / "quickstart" / "submit.py").read_text("utf-8")
    assert shown in demo.replace("  # noqa: E402, I001", "")


@pytest.mark.parametrize("place", ["*.md", "docs/**/*.md", "examples/**/*.py", "src/**/*.py"])
def test_nobody_is_told_to_install_it_from_an_index_that_does_not_have_it(place: str) -> None:
    asked = re.compile(r"pip install [^`\n]*?(?<![\w/~.-])runyard\b")
    found = {str(path.relative_to(ROOT)): asked.findall(path.read_text("utf-8")) for path in ROOT.glob(place)}
    assert not {path: texts for path, texts in found.items() if texts}
