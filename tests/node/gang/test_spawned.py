"""Commands on other nodes: started by a message, ended by one, and failed when their node is lost."""

from __future__ import annotations

from typing import Any

from runyard.node.gang.spawned import SpawnedCommands


def commands() -> tuple[SpawnedCommands, list[tuple[int, str, dict[str, Any]]]]:
    sent: list[tuple[int, str, dict[str, Any]]] = []
    return SpawnedCommands(lambda node, kind, **more: sent.append((node, kind, more))), sent


def test_a_command_is_sent_to_its_node_and_ends_with_the_code_from_there() -> None:
    started, sent = commands()
    first = started.start(1, ["orted"], {"A": "b"})
    second = started.start(2, ["orted"], {})
    assert sent[0] == (1, "spawn", {"number": 1, "argv": ["orted"], "variables": {"A": "b"}})
    assert first.wait(0.0) is None
    started.ended(2, 3)
    started.ended(99, 0)  # none of ours
    assert (first.wait(0.0), second.wait(0.0)) == (None, 3)


def test_a_stop_is_sent_once_there_is_something_to_stop() -> None:
    started, sent = commands()
    command = started.start(1, ["orted"], {})
    command.stop()
    assert sent[-1] == (1, "unspawn", {"number": 1})
    started.ended(1, 0)
    command.stop()
    assert len(sent) == 2


def test_what_runs_on_a_node_that_is_lost_has_failed() -> None:
    started, _ = commands()
    there, done, elsewhere = (started.start(node, ["orted"], {}) for node in (1, 1, 2))
    started.ended(2, 0)
    started.lost(1)
    assert (there.wait(0.0), done.wait(0.0), elsewhere.wait(0.0)) == (1, 0, None)
