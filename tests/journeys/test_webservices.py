"""Services from a notebook's point of view: SDK v1's code, with real processes that answer."""

from __future__ import annotations

import json
import textwrap
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.journeys.conftest import Yard
from tests.support.frameworks import environment
from tests.support.waiting import wait_until

from azureml.core import Environment, Experiment, Model, ScriptRunConfig, Webservice, Workspace
from azureml.core.compute import AksCompute, ComputeTarget
from azureml.core.model import InferenceConfig
from azureml.core.webservice import AciWebservice, AksEndpoint, AksWebservice, LocalWebservice
from azureml.exceptions import UserErrorException, WebserviceException

SCORE = """
import json, os
from azureml.core.model import Model

def init():
    global factor
    path = Model.get_model_path("times")
    assert path.startswith(os.environ["AZUREML_MODEL_DIR"]), path
    factor = json.load(open(path))["factor"]
    print("loaded", os.path.basename(path))

def run(data):
    return [each * factor for each in json.loads(data)["data"]]
"""


@pytest.fixture
def ws(shared_yard: Yard) -> Iterator[Workspace]:
    """The workspace; services that a test leaves are deleted, so that nothing is left running."""
    workspace = shared_yard.workspace
    yield workspace
    for service in workspace.webservices.values():
        Webservice.delete(service)


def registered(ws: Workspace, factor: int) -> Model:
    Path("times.json").write_text(json.dumps({"factor": factor}))
    return Model.register(ws, "times.json", "times", tags={"factor": str(factor)})


def scored(yard: Yard, script: str = SCORE) -> InferenceConfig:
    here = Environment("here")
    here.python.user_managed_dependencies = True
    folder = yard.project(textwrap.dedent(script), "score.py")
    return InferenceConfig(entry_script="score.py", source_directory=str(folder), environment=here)


def posted(uri: str, body: str, key: str | None = None) -> tuple[int, str]:
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    request = urllib.request.Request(uri, body.encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def test_a_script_with_keys(shared_yard: Yard, ws: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    config = AciWebservice.deploy_configuration(
        cpu_cores=1, memory_gb=1, auth_enabled=True, tags={"stage": "test"}, primary_key="a-key-of-my-own-0123"
    )
    service = Model.deploy(ws, "of-a-script", [registered(ws, 2)], scored(shared_yard), config)
    assert isinstance(service, AciWebservice)
    assert service.state == "Transitioning"
    service.wait_for_deployment(show_output=True)
    said = capsys.readouterr().out
    assert "Tips: " in said
    assert "\nRunning\n" in said
    assert "\nSucceeded\n" in said
    assert 'ACI service of-a-script: the deployment has ended, operation "Succeeded"' in said
    assert str(service.scoring_uri) in said
    assert service.state == "Healthy"

    assert service.run(json.dumps({"data": [1, 2]})) == [2, 4]
    primary, secondary = service.get_keys()
    assert primary == "a-key-of-my-own-0123"
    assert posted(str(service.scoring_uri), '{"data": [3]}', secondary) == (200, "[6]")
    assert posted(str(service.scoring_uri), '{"data": [3]}')[0] == 401
    assert posted(str(service.scoring_uri), '{"data": [3]}', "wrong")[0] == 401
    described = urllib.request.Request(str(service.swagger_uri), headers={"Authorization": f"Bearer {primary}"})
    with urllib.request.urlopen(described, timeout=10) as swagger:
        assert json.load(swagger)["swagger"] == "2.0"
    assert "loaded times.json" in service.get_logs()

    found = ws.webservices["of-a-script"]
    assert isinstance(found, AciWebservice)
    assert found.auth_enabled
    assert found.run('{"data": [5]}') == [10]
    service.regen_key("Primary")
    assert service.get_keys()[0] != primary
    wait_until(lambda: posted(str(service.scoring_uri), '{"data": [3]}', primary)[0] == 401, "the end of the old key")
    assert found.run('{"data": [5]}') == [10], "the other object fetches the new key"

    service.add_tags({"more": "1"})
    service.update(models=[registered(ws, 3)], tags={"stage": "later"})
    service.wait_for_deployment()
    assert service.tags == {"stage": "later"}
    assert service.run('{"data": [5]}') == [15]
    assert [model.version for model in service.models] == [service.models[0].version]
    with pytest.raises(WebserviceException, match="WebserviceExists"):
        Model.deploy(ws, "of-a-script", [Model(ws, "times")], scored(shared_yard))
    again = Model.deploy(ws, "of-a-script", [Model(ws, "times")], scored(shared_yard), config, overwrite=True)
    again.wait_for_deployment()
    assert again.run('{"data": [1]}') == [3]
    with pytest.raises(WebserviceException, match="of-a-script"):
        Model(ws, "times").delete()
    service.delete()
    assert "of-a-script" not in ws.webservices
    with pytest.raises(WebserviceException, match="WebserviceNotFound"):
        Webservice(ws, "of-a-script")


def test_by_hand_with_a_reload(shared_yard: Yard, ws: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    config = scored(shared_yard)
    service = Model.deploy(ws, "by-hand", [registered(ws, 2)], config, LocalWebservice.deploy_configuration())
    assert isinstance(service, LocalWebservice)
    assert service.state == "deploying"
    service.wait_for_deployment()
    assert f"running: http://localhost:{service.port}" in capsys.readouterr().out
    assert service.run('{"data": [1]}') == [2]
    script = Path(str(config.source_directory)) / "score.py"
    script.write_text(script.read_text().replace("each * factor", "each * factor + 100"))
    found = LocalWebservice(ws, "by-hand")
    found.reload(wait=True)
    assert service.run('{"data": [1]}') == [102]
    assert found.port == service.port
    service.update(models=[registered(ws, 5)], wait=True)
    assert service.run('{"data": [1]}') == [105]
    assert [each.name for each in LocalWebservice.list(ws)] == ["by-hand"]
    taken = LocalWebservice.deploy_configuration(port=service.port)
    with pytest.raises(WebserviceException, match=f"{service.port}"):
        Model.deploy(ws, "port-b", [Model(ws, "times")], config, taken)
    service.delete()
    assert service.state == "deleted"
    with pytest.raises(WebserviceException, match="it is deleted"):
        service.run("{}")


def test_aks_with_tokens_and_versions_with_shares(shared_yard: Yard, ws: Workspace) -> None:
    settings = AksCompute.provisioning_configuration(cluster_purpose=AksCompute.ClusterPurpose.DEV_TEST, agent_count=1)
    aks = ComputeTarget.create(ws, "aks", settings)
    aks.wait_for_completion(show_output=True)
    assert isinstance(ws.compute_targets["aks"], AksCompute)
    config = scored(shared_yard)
    once, twice = registered(ws, 1), registered(ws, 2)

    limits = AksWebservice.deploy_configuration(
        autoscale_enabled=False, num_replicas=1, token_auth_enabled=True, scoring_timeout_ms=5000
    )
    service = Model.deploy(ws, "on-aks", [twice], config, limits, aks)
    service.wait_for_deployment(show_output=True)
    assert isinstance(service, AksWebservice)
    assert (service.compute_name, service.token_auth_enabled, service.auth_enabled) == ("aks", True, False)
    token, refresh_by = service.get_token()
    assert posted(str(service.scoring_uri), '{"data": [2]}', token) == (200, "[4]")
    assert posted(str(service.scoring_uri), '{"data": [2]}')[0] == 401
    assert service.run('{"data": [2]}') == [4]
    access = service.get_access_token()
    assert access.expiry_on > access.refresh_after
    assert refresh_by is not None
    service.delete()

    first = AksEndpoint.deploy_configuration(
        autoscale_enabled=False, num_replicas=1, version_name="version-a", traffic_percentile=20
    )
    endpoint = Model.deploy(ws, "endpoint-x", [once], config, first, aks)
    endpoint.wait_for_deployment()
    assert isinstance(endpoint, AksEndpoint)
    assert endpoint.auth_enabled
    endpoint.create_version("version-b", models=[twice], inference_config=config, traffic_percentile=50)
    endpoint.wait_for_deployment()
    assert {name: each.traffic_percentile for name, each in endpoint.versions.items()} == {
        "version-a": 20.0,
        "version-b": 50.0,
    }
    assert endpoint.versions["version-a"].is_default
    answers = [endpoint.run('{"data": [1]}')[0] for _ in range(60)]
    assert {1, 2} == set(answers), "both versions answer"
    endpoint.update_version("version-b", traffic_percentile=0, is_default=False)
    wait_until(
        lambda: {endpoint.run('{"data": [1]}')[0] for _ in range(5)} == {1}, "all requests at the default version"
    )
    endpoint.delete_version("version-b")
    endpoint.update_deployment_state()
    assert sorted(endpoint.versions) == ["version-a"]
    endpoint.delete()


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("import a_package_that_is_missing\ndef init(): pass\ndef run(data): pass\n", "a_package_that_is_missing"),
        ("def init():\n    1 / 0\ndef run(data): pass\n", "(?s)division by zero.*line 2"),
    ],
)
def test_a_script_that_does_not_come_up(shared_yard: Yard, ws: Workspace, script: str, message: str) -> None:
    service = Model.deploy(ws, "broken", [], scored(shared_yard, script))
    with pytest.raises(WebserviceException, match=message) as caught:
        service.wait_for_deployment()
    assert "did not come up" in caught.value.message
    assert service.state in ("Failed", "Unhealthy")
    assert "Traceback" in service.get_logs()


def test_an_environment_that_cannot_be_built(shared_yard: Yard, ws: Workspace) -> None:
    config = scored(shared_yard)
    built = Environment("cannot-be-built")
    built.python.conda_dependencies.add_pip_package("a-package-that-nobody-has-made==1.0")
    config.environment = built
    service = Model.deploy(ws, "broken", [registered(ws, 1)], config)
    with pytest.raises(WebserviceException, match="a-package-that-nobody-has-made"):
        service.wait_for_deployment()


@pytest.mark.parametrize(
    ("framework", "runtime", "file"), [("Onnx", "onnx", "model.onnx"), ("ScikitLearn", "scikitlearn", "model.pkl")]
)
def test_a_model_that_does_not_load(ws: Workspace, framework: str, runtime: str, file: str) -> None:
    mapped = {"pattern": f"runyard-serving-{runtime}", "interpreter": str(environment("serving"))}
    ws.service.put(f"/api/workspaces/{ws.name}/environment-maps", mapped)
    Path(file).write_text("this is no model")
    model = Model.register(ws, file, f"no-{runtime}", model_framework=framework)
    service = Model.deploy(ws, "broken", [model])
    with pytest.raises(WebserviceException, match=f"did not come up.*no-{runtime}"):
        service.wait_for_deployment()
    assert service.state in ("Failed", "Unhealthy")


def test_a_run_that_raises_and_what_is_no_json(shared_yard: Yard, ws: Workspace) -> None:
    script = "import json\ndef init(): pass\ndef run(data):\n    return 1 / json.loads(data)\n"
    service = Model.deploy(ws, "bad-run", [], scored(shared_yard, script))
    service.wait_for_deployment()
    for body in ("0", "{"):
        with pytest.raises(WebserviceException, match="answered with status") as caught:
            service.run(body)
        assert caught.value.status_code is not None
        assert caught.value.status_code >= 400
        assert "score.py" in caught.value.message, "the user is told the line"
    assert "score.py" not in posted(str(service.scoring_uri), "0")[1], "and nobody else"
    assert service.run("2") == 0.5, "it goes on"


def test_what_cannot_be_served_without_code(ws: Workspace) -> None:
    model = registered(ws, 1)
    with pytest.raises(UserErrorException, match="framework 'Custom'"):
        Model.deploy(ws, "broken", [model])
    with pytest.raises(UserErrorException, match="exactly one model, not 2"):
        Model.deploy(ws, "broken", [model, model])
    with pytest.raises(WebserviceException, match="no name for a service"):
        Model.deploy(ws, "Not_A_Name", [model])
    assert ws.webservices == {}


TRAIN = """
import tensorflow as tf

class Twice(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def __call__(self, x):
        return {"y": 2.0 * x}

twice = Twice()
tf.saved_model.save(twice, "outputs/model", signatures={"serving_default": twice.__call__})
"""

OF_THE_PAGE = """
from azureml.core import Model
from azureml.core.resource_configuration import ResourceConfiguration

model = run.register_model(model_name='tf-mnist', 
                           model_path='outputs/model',
                           model_framework=Model.Framework.TENSORFLOW,
                           model_framework_version='2.0',
                           resource_configuration=ResourceConfiguration(cpu=1, memory_in_gb=0.5))

service = Model.deploy(ws, "tensorflow-web-service", [model])
"""  # noqa: W291


def test_the_page_deploys_a_tensorflow_model_without_code(shared_yard: Yard, ws: Workspace) -> None:
    python = environment("tensorflow")
    # What `runyard env map` does: the shared environment of the tests stands in for the one that would be built.
    mapped = {"pattern": "runyard-serving-tensorflow", "interpreter": str(python)}
    ws.service.put(f"/api/workspaces/{ws.name}/environment-maps", mapped)
    here = Environment("tensorflow-here")
    here.python.user_managed_dependencies = True
    here.python.interpreter_path = str(python)
    source = shared_yard.project(TRAIN)
    run = Experiment(ws, "page").submit(ScriptRunConfig(str(source), "train.py", environment=here))
    run.wait_for_completion()
    names: dict[str, Any] = {"run": run, "ws": ws}
    exec(OF_THE_PAGE, names)
    service = names["service"]
    assert isinstance(service, AciWebservice)
    service.wait_for_deployment(show_output=True)
    assert service.run(json.dumps({"instances": [[1.0, 2.0]]})) == {"predictions": [[2.0, 4.0]]}
    status, said = posted(str(service.scoring_uri), json.dumps({"instances": [["one"]]}))
    assert status == 400, said
    service.delete()
