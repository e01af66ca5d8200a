"""A service as an object: its class, its attributes, its keys, and calls that are refused before a request is made."""

from __future__ import annotations

import pytest
from tests.sdk.webservice import told
from tests.sdk.webservice.answering import answering

from runyard.sdk.environment.environment import Environment
from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice.aci import AciWebservice
from runyard.sdk.webservice.aks import AksWebservice
from runyard.sdk.webservice.aks_endpoint import AksEndpoint
from runyard.sdk.webservice.local import LocalWebservice
from runyard.sdk.webservice.unknown import UnknownWebservice
from runyard.sdk.webservice.webservice import Webservice
from runyard.sdk.workspace.workspace import Workspace


@pytest.mark.parametrize(
    ("kind", "made"),
    [
        ("aci", AciWebservice),
        ("aks", AksWebservice),
        ("endpoint", AksEndpoint),
        ("local", LocalWebservice),
        ("functions", UnknownWebservice),
    ],
)
def test_the_class_is_that_of_the_kind(workspace: Workspace, kind: str, made: type[Webservice]) -> None:
    service = Webservice._told(workspace, told.service(kind))
    assert type(service) is made
    assert service.scoring_uri == "http://localhost:4321/score"
    assert service.swagger_uri == "http://localhost:4321/swagger.json"
    assert (service.tags, service.description) == ({"stage": "test", "owner": "me"}, "of birds")
    assert service.created_time is not None
    assert service.created_time.microsecond == 250_000


def test_another_class_than_the_one_that_is_meant(workspace: Workspace) -> None:
    with pytest.raises(WebserviceException, match="of the class AciWebservice, not AksWebservice"):
        AksWebservice._told(workspace, told.service("aci"))


def test_one_that_is_not_there(workspace: Workspace) -> None:
    with pytest.raises(WebserviceException, match="WebserviceNotFound"):
        Webservice(workspace, "nothing-here")
    assert "nothing-here" not in workspace.webservices


def test_names_are_checked_before_anything_is_asked(workspace: Workspace) -> None:
    with pytest.raises(WebserviceException, match="no name for a service"):
        Webservice.check_for_existing_webservice(workspace, "Not A Name")
    Webservice.check_for_existing_webservice(workspace, "free-name")


def test_keys_and_texts_are_checked(workspace: Workspace) -> None:
    service = Webservice._told(workspace, told.service())
    with pytest.raises(WebserviceException, match="'Primary' or 'Secondary'"):
        service.regen_key("third")
    with pytest.raises(WebserviceException, match="properties do not change"):
        service.add_properties({"made": "elsewhere"})
    with pytest.raises(WebserviceException, match=r"json\.dumps"):
        service.run({"data": 1})


def test_the_environment_is_the_one_that_was_deployed(workspace: Workspace) -> None:
    """`reload` and `deploy_to_cloud` of an object that was found by its name must not lose the packages."""
    made = Environment("birds-env")
    made.python.conda_dependencies.add_pip_package("numpy")
    service = Webservice._told(workspace, told.service(definition=made.to_dict()))
    assert service.environment is not None
    assert "numpy" in service.environment.python.conda_dependencies.pip_packages
    plain = Webservice._told(workspace, told.service())
    assert plain.environment is not None
    assert plain.environment.name == "env"


def test_a_call_needs_no_server_of_ours(workspace: Workspace) -> None:
    """The service answers by itself: a server that is down does not matter."""
    with answering() as behind:
        service = Webservice._told(workspace, told.service(scoring_uri=f"{behind.url}/score"))
        assert service.run('{"data": [1]}') == {"got": '{"data": [1]}'}
    assert behind.requests == [("/score", b'{"data": [1]}', "application/json", None)]


def test_a_service_without_an_address(workspace: Workspace) -> None:
    service = Webservice._told(workspace, told.service(scoring_uri=None))
    with pytest.raises(WebserviceException, match="WebserviceNotFound"):
        service.run("{}")  # it is asked for again, and there is none


def test_deleting_one_that_is_gone_says_so(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    service = Webservice._told(workspace, told.service())
    service.delete()
    assert "no service 'birds' to delete" in capsys.readouterr().out
    assert service.state == "Deleting"


def test_written_and_read_back(workspace: Workspace) -> None:
    service = Webservice._told(workspace, told.service("aks"))
    again = Webservice.deserialize(workspace, service.serialize())
    assert type(again) is AksWebservice
    assert again.serialize() == service.serialize()


def test_how_it_looks(workspace: Workspace) -> None:
    service = Webservice._told(workspace, told.service(name="birds", description="<b>"))
    assert repr(service).startswith("AciWebservice(workspace='local', name='birds', state='Healthy'")
    assert "http://localhost:4321/score" in service._repr_html_()
    assert "bird:2" in service._repr_html_()
