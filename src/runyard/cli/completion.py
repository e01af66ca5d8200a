"""Completion of arguments in the shell. No server is started for it, and a slow one is ignored.

The parameter `ctx`, which typer knows by its name, is the call as far as it was typed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runyard.cli.api import Api

QUICK = 0.5
"""Seconds that a server has to answer."""

NEWEST = 50


def run_ids(incomplete: str) -> list[str]:
    """The newest runs."""
    return _offered(incomplete, lambda server: [run["id"] for run in server.newest(NEWEST)])


def target_names(incomplete: str) -> list[str]:
    return _offered(incomplete, _targets)


def experiment_names(incomplete: str) -> list[str]:
    """Those of all workspaces, but for archived ones."""
    return _offered(incomplete, lambda server: [each["name"] for each in server.experiments()])


def model_names(incomplete: str) -> list[str]:
    """The models of all workspaces, and once there is a colon, their versions."""
    return _offered(incomplete, lambda server: server.models(versions=":" in incomplete))


def service_names(incomplete: str) -> list[str]:
    return _offered(incomplete, lambda server: server.names("services"))


def dataset_names(incomplete: str) -> list[str]:
    return _offered(incomplete, lambda server: server.names("datasets"))


def datastore_names(incomplete: str) -> list[str]:
    return _offered(incomplete, lambda server: server.names("datastores"))


def metric_names(ctx: Any, incomplete: str) -> list[str]:
    """The metrics of the run that was typed before."""
    run = _named_before(ctx)
    return _offered(incomplete, lambda server: [each["name"] for each in server.metrics(_id(server, run), buckets=1)])


def file_names(ctx: Any, incomplete: str) -> list[str]:
    """The files of the run that was typed before."""
    run = _named_before(ctx)
    return _offered(incomplete, lambda server: [each["name"] for each in server.files(_id(server, run))])


def statuses(incomplete: str) -> list[str]:
    from runyard.contracts import states

    return sorted(status for status in states.ALL if status.startswith(incomplete))


def _named_before(context: Any) -> str:
    """The run among the arguments so far; empty when there is none, which is no run's name."""
    # While an option waits for its value, what was typed before it is not assigned to the arguments yet.
    typed = [context.params.get("run"), *context.args]
    return next((text for text in typed if isinstance(text, str)), "")


def _id(server: Api, text: str) -> str:
    return server.find(text)["id"]


def _targets(server: Api) -> Iterable[str]:
    return [target["name"] for place in server.workspaces() for target in server.targets(place, timeout=QUICK)]


def _offered(incomplete: str, names: Callable[[Api], Iterable[str]]) -> list[str]:
    """The names that begin so, in their order; none when no server answers at once."""
    from runyard.cli import api, errors
    from runyard.client.http import ClientProblem
    from runyard.contracts.home import home

    server = api.connect_if_running(home(), timeout=QUICK)
    if server is None:
        return []
    try:
        found = dict.fromkeys(names(server))
    except (ClientProblem, errors.CommandError):
        return []
    return [name for name in found if name.startswith(incomplete)]
