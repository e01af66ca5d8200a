"""A process that uses datasets through the SDK and stays up, as a notebook does, with a server of its own."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import measure, venvs
from benchmarks.measure import Conversation
from benchmarks.venvs import Say


@contextlib.contextmanager
def opened(prefix: str, say: Say) -> Iterator[tuple[Path, Conversation]]:
    """A folder, and such a process that knows it, both until the end of the block. NotInstalled says why not."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=prefix)))
        yield folder, using(stack, venvs.runyard(say), folder)


def using(stack: contextlib.ExitStack, ours: venvs.Environment, folder: Path) -> Conversation:
    """The process (`benchmarks.children.use_data`), until the end of the stack."""
    home = stack.enter_context(measure.yard(ours))
    project = folder / "project"
    project.mkdir(exist_ok=True)
    shutil.copy(measure.script("first_line.py"), project)
    command = [ours.python, measure.script("use_data.py"), str(project)]
    conversation = Conversation(command, folder / "use_data.log", RUNYARD_HOME=str(home))
    stack.callback(conversation.close)
    return conversation
