"""LocalWebservice: its port, its states, and what it refuses in the wrong one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.sdk.webservice import told

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice.local import LocalWebservice
from runyard.sdk.workspace.workspace import Workspace


@pytest.mark.parametrize("port", [0, -1, 65536, "8890", 1.5, True])
def test_ports_that_are_refused(port: int) -> None:
    with pytest.raises(WebserviceException, match="from 1 to 65535"):
        LocalWebservice.deploy_configuration(port)


def test_the_port_is_sent_where_it_was_given() -> None:
    assert LocalWebservice.deploy_configuration()._request() == {"kind": "local", "settings": {}}
    assert LocalWebservice.deploy_configuration(8890)._request() == {"kind": "local", "settings": {"port": 8890}}


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        ("Transitioning", "deploying"),
        ("Healthy", "running"),
        ("Unhealthy", "failed"),
        ("Failed", "failed"),
        ("Deleting", "deleted"),
        ("", "unknown"),
    ],
)
def test_the_states_of_sdk_v1(workspace: Workspace, state: str, shown: str) -> None:
    service = LocalWebservice._told(workspace, told.service("local", state=state))
    assert service.state == shown
    assert service.port == 4321
    assert service.scoring_uri == "http://localhost:4321/score"


def test_one_that_need_not_be_there(workspace: Workspace) -> None:
    with pytest.raises(WebserviceException, match="WebserviceNotFound"):
        LocalWebservice(workspace, "nothing-here")
    service = LocalWebservice(workspace, "nothing-here", must_exist=False)
    assert (service.state, service.port, service.scoring_uri) == ("unknown", None, None)
    with pytest.raises(WebserviceException, match="WebserviceNotFound"):
        service.update_deployment_state(must_exist=True)
    service.update_deployment_state()
    assert service.state == "unknown"


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda service: service.run("{}"), "called"),
        (lambda service: service.reload(), "reloaded"),
        (lambda service: service.update(), "updated"),
        (lambda service: service.delete(), "deleted"),
        (lambda service: service.get_logs(), "log"),
        (lambda service: service.wait_for_deployment(), "waited for"),
        (lambda service: service.deploy_to_cloud(), "deployed"),
    ],
)
def test_calls_in_the_wrong_state(workspace: Workspace, call: Callable[[LocalWebservice], object], what: str) -> None:
    service = LocalWebservice(workspace, "nothing-here", must_exist=False)
    with pytest.raises(WebserviceException, match=f"cannot be .*{what}.*it is unknown"):
        call(service)


def test_what_is_not_for_this_class(workspace: Workspace) -> None:
    service = LocalWebservice._told(workspace, told.service("local"))
    for call in (service.get_keys, service.get_token, lambda: service.regen_key("Primary")):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(NotImplementedError):
        LocalWebservice.deserialize(workspace, {})
