from __future__ import annotations

from pathlib import Path

from runyard.contracts.environment import Specification
from runyard.environments.builder import Builder, Built, Order


class Linking(Builder):
    """The smallest builder: what it makes is a link to an interpreter."""

    name = "linking"

    def build(self, order: Order, folder: Path) -> Built:
        (folder / "python").symlink_to(order.specification.interpreter)
        return Built(str(folder / "python"), str(folder))


def test_an_environment_is_intact_while_its_interpreter_is_there(tmp_path: Path) -> None:
    interpreter = tmp_path / "python3"
    interpreter.touch()
    folder = tmp_path / "environment"
    folder.mkdir()
    builder = Linking()
    built = builder.build(Order(Specification(interpreter=str(interpreter))), folder)
    assert builder.intact(built)
    interpreter.unlink()
    assert not builder.intact(built), "the link is there, and the Python below it was removed"


def test_an_order_is_strict_and_goes_on_unless_somebody_says_otherwise() -> None:
    order = Order(Specification())
    order.check()
    assert not order.relax
    assert dict(order.secrets) == {}
    assert order.fetch("/a/file") == Path("/a/file")
