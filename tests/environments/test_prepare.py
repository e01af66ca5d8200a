from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.wheels import wheel

from runyard.contracts.environment import Specification
from runyard.environments import prepare as preparing
from runyard.environments.builder import Builder, Built, Order
from runyard.environments.cache import Cache
from runyard.environments.prepare import STOCK_IMAGE, Around, Ready, peek, prepare
from runyard.environments.problem import EnvironmentProblem
from runyard.sdk.environment.sections import DEFAULT_CPU_IMAGE

if TYPE_CHECKING:
    from tests.environments.conftest import Yard

SPECIFICATION = Specification(name="mine", python="3.11", pip=("numpy",), left_out=("azureml-defaults",))


class ByHand(Builder):
    """Writes one file where a real builder installs packages."""

    name = "by hand"

    def __init__(self) -> None:
        self.orders: list[Order] = []
        self.problem: BaseException | None = None
        self.lines: list[str] = []

    def build(self, order: Order, folder: Path) -> Built:
        self.orders.append(order)
        python = folder / "bin" / "python"
        python.parent.mkdir()
        python.write_text("a Python")
        for line in self.lines:
            order.report(line)
        if self.problem is not None:
            raise self.problem
        return Built(str(python), str(folder), python="3.11.2", changes=["numpy 1 became 2"] if order.relax else [])


class Log(list[str]):
    def write(self, line: str) -> None:
        self.append(line)

    @property
    def text(self) -> str:
        return "\n".join(self)


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch) -> ByHand:
    made = ByHand()
    monkeypatch.setattr(preparing, "_builder", lambda specification, memory: made)
    return made


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def around(tmp_path: Path) -> Around:
    return Around(tmp_path / "environments")


@pytest.fixture
def ready(around: Around, builder: ByHand) -> Iterator[Ready]:
    made = get(SPECIFICATION, around)
    yield made
    made.held.release()


def get(specification: Specification, around: Around, log: Log | None = None) -> Ready:
    return prepare(specification, around, (log if log is not None else Log()).write, lambda: None)


def test_it_is_built_once_and_then_found(around: Around, builder: ByHand, log: Log) -> None:
    assert peek(SPECIFICATION, around) is None
    assert not around.folder.exists(), "looking leaves nothing behind"
    first = get(SPECIFICATION, around, log)
    assert not first.found
    assert Path(first.built.interpreter).read_text() == "a Python"
    assert "azureml-defaults is left out: the SDK is there already" in log
    assert "with by hand" in log.text
    assert "Built in" in log.text

    later = Log()
    second = get(SPECIFICATION, around, later)
    assert second.found
    assert (second.key, second.built) == (first.key, first.built)
    assert "there already" in later.text
    assert len(builder.orders) == 1


def test_the_same_under_another_name_is_shared_and_both_names_are_kept(ready: Ready, around: Around) -> None:
    other = get(Specification(name="yours", python="3.11", pip=("numpy",)), around)
    assert other.found
    assert other.key == ready.key
    assert set(other.names) == {"mine", "yours"}
    assert set(Cache(around.folder).entries()[0].names) == {"mine", "yours"}


def test_one_whose_interpreter_is_gone_is_built_anew(ready: Ready, around: Around, builder: ByHand) -> None:
    Path(ready.built.interpreter).unlink()
    assert peek(SPECIFICATION, around) is None
    assert not get(SPECIFICATION, around).found
    assert len(builder.orders) == 2
    assert Path(ready.built.interpreter).exists()


def test_a_relaxed_workspace_takes_the_strict_build_where_there_is_one(
    ready: Ready, around: Around, builder: ByHand
) -> None:
    relaxed = Around(around.folder, relax=True)
    assert get(SPECIFICATION, relaxed).key == ready.key
    assert len(builder.orders) == 1


def test_a_strict_workspace_does_not_take_the_relaxed_build(around: Around, builder: ByHand, log: Log) -> None:
    relaxed = Around(around.folder, relax=True)
    first = get(SPECIFICATION, relaxed, log)
    assert builder.orders[0].relax
    assert "Relaxed: numpy 1 became 2" in log
    again = Log()
    assert get(SPECIFICATION, relaxed, again).key == first.key
    assert "Relaxed: numpy 1 became 2" in again, "every run that gets it is told"
    assert get(SPECIFICATION, around).key != first.key


def test_what_is_kept_cannot_be_removed(ready: Ready, around: Around) -> None:
    assert Cache(around.folder).is_used(ready.key)
    ready.held.release()
    assert not Cache(around.folder).is_used(ready.key)


def test_the_oldest_go_when_there_is_a_limit_but_never_the_one_just_made(
    around: Around, builder: ByHand, log: Log
) -> None:
    get(SPECIFICATION, around).held.release()
    tight = Around(around.folder, limit=1)
    kept = get(Specification(name="yours", pip=("scipy",)), tight, log)
    assert [entry.key for entry in Cache(around.folder).entries()] == [kept.key]
    assert "Removed the environment 'mine'" in log.text


def test_no_secret_is_said(tmp_path: Path, builder: ByHand, log: Log) -> None:
    around = Around(tmp_path, secrets={"RUNYARD_SECRET_1": "me:hunter2!", "RUNYARD_SECRET_2": "p%40ssword"})
    builder.lines = ["index https://me:hunter2!@host/simple", "password hunter2!", "login p@ssword or p%40ssword"]
    builder.problem = EnvironmentProblem("Conflict", "hunter2! was refused", "change hunter2!")
    with pytest.raises(EnvironmentProblem) as caught:
        get(SPECIFICATION, around, log)
    told = "\n".join([log.text, caught.value.message, caught.value.help, str(caught.value)])
    assert "login *** or ***" in told
    assert "*** was refused" in told
    assert "hunter2" not in told
    assert "ssword or" not in told


def test_a_problem_leaves_nothing_and_the_next_run_builds(around: Around, builder: ByHand) -> None:
    builder.problem = EnvironmentProblem("NotFound", "no such package")
    with pytest.raises(EnvironmentProblem, match="no such package"):
        get(SPECIFICATION, around)
    assert Cache(around.folder).entries() == []
    assert Cache(around.folder).leftovers() == []
    assert not Cache(around.folder).is_used(SPECIFICATION.key())
    builder.problem = None
    assert not get(SPECIFICATION, around).found


def test_a_full_disk_is_told_as_such(around: Around, builder: ByHand) -> None:
    builder.problem = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(EnvironmentProblem, match="no space left") as caught:
        get(SPECIFICATION, around)
    assert caught.value.code == "DiskFull"
    assert "runyard env gc" in caught.value.help
    assert Cache(around.folder).entries() == []


def test_a_folder_that_cannot_be_written_is_told_as_such(around: Around, builder: ByHand) -> None:
    builder.problem = OSError(errno.EROFS, "Read-only file system", str(around.folder / "key"))
    with pytest.raises(EnvironmentProblem, match="cannot be kept") as caught:
        get(SPECIFICATION, around)
    assert "RUNYARD_HOME" in caught.value.help


def test_notes_and_an_image_that_somebody_asked_for_are_told_and_the_stock_image_is_not(
    around: Around, builder: ByHand, log: Log
) -> None:
    noted = Around(around.folder, notes=("AzureML-Minimal was mapped",))
    asked = Specification(pip=("numpy",), image="mcr.microsoft.com/azureml/openmpi3.1.2-cuda10.1:2020")
    get(asked, noted, log)
    assert log[0] == "AzureML-Minimal was mapped"
    assert "this machine stands in for it" in log[1]
    stock = Log()
    get(Specification(pip=("numpy",), image=DEFAULT_CPU_IMAGE), around, stock)
    assert DEFAULT_CPU_IMAGE.startswith(STOCK_IMAGE)
    assert "stands in" not in stock.text


def test_what_its_user_manages_is_not_built(around: Around) -> None:
    with pytest.raises(ValueError, match="not built"):
        get(Specification(user_managed=True), around)


def test_finding_one_loads_no_builder(ready: Ready, around: Around) -> None:
    """Every run finds its environment before its script starts: what is loaded for it delays them all."""
    code = f"""
import sys
from pathlib import Path
from runyard.contracts.environment import Specification
from runyard.environments.prepare import Around, peek
assert peek(Specification(name="mine", python="3.11", pip=("numpy",)), Around(Path({str(around.folder)!r})))
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    heavy = {"subprocess", "asyncio", "http.client", "docker", "yaml", "runyard.environments.packages"}
    assert not loaded & (heavy | {"runyard.sdk.environment.sections"})


def test_a_disk_that_is_really_full(
    disk_of: Callable[[str], Path], yard: Yard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(yard.links, "large", files={"large_blob.txt": "some text " * 500_000})
    around = Around(disk_of("3m") / "environments")
    with pytest.raises(EnvironmentProblem) as caught:
        prepare(Specification(name="x", pip=("large",)), around, print, lambda: None)
    assert caught.value.code == "DiskFull"
    assert "no space left" in caught.value.message
    assert not Cache(around.folder).entries()
    assert not Cache(around.folder).leftovers()
    assert not [path for path in around.folder.iterdir() if path.is_dir()]
