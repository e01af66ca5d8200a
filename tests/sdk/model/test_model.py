"""`Model` as notebooks use it: registered, found, changed, described and deleted."""

from __future__ import annotations

import http.client
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from runyard.sdk.data.file_dataset import FileDataset
from runyard.sdk.exceptions import ModelNotFoundException, UserErrorException, WebserviceException
from runyard.sdk.experiment import Experiment
from runyard.sdk.model.model import Model
from runyard.sdk.submit.resource_configuration import ResourceConfiguration
from runyard.sdk.workspace.workspace import Workspace


@pytest.fixture
def name() -> str:
    """A name of the test's own: tests share a server."""
    return f"model-{uuid.uuid4().hex[:12]}"


def dataset(workspace: Workspace, path: str) -> FileDataset:
    made = FileDataset({"kind": "file", "sources": [{"url": f"http://h/{path}"}], "steps": []}, workspace)
    made._saved()
    return made


def test_a_model_is_registered_and_known_by_all_that_was_said(
    workspace: Workspace, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("model.pkl").write_bytes(b"weights")
    training, sample = dataset(workspace, "a"), dataset(workspace, "b")
    made = Model.register(
        workspace,
        model_path="model.pkl",
        model_name=name,
        tags={"area": "birds"},
        properties={"p": "1"},
        description="Sees birds",
        datasets=[("training", training)],
        model_framework=Model.Framework.SCIKITLEARN,
        model_framework_version="1.3",
        sample_input_dataset=sample,
        resource_configuration=ResourceConfiguration(cpu=1, memory_in_gb=0.5),
    )
    assert capsys.readouterr().out == f"Registering model {name}\n"
    for model in (made, Model(workspace, name), Model(workspace, id=f"{name}:1"), Model(workspace, name, version=1)):
        assert (model.name, model.version, model.id, model.unpack) == (name, 1, f"{name}:1", False)
        assert (model.tags, model.properties, model.description) == ({"area": "birds"}, {"p": "1"}, "Sees birds")
        assert (model.model_framework, model.model_framework_version) == ("ScikitLearn", "1.3")
        assert model.resource_configuration == ResourceConfiguration(1, 0.5)
        assert [each.id for each in model.datasets["training"]] == [training.id]
        assert (model.sample_input_dataset.id, model.sample_output_dataset) == (sample.id, None)
        assert (model.run_id, model.run, model.experiment_name, model.parent_id) == (None, None, None, None)
    assert made.created_time.tzinfo is not None
    assert made.url.endswith(f"/models/{name}/1")
    assert repr(made).startswith("Model(workspace=Workspace.create(name='local'")
    assert repr(made).endswith(
        f"name={name}, id={name}:1, version=1, tags={{'area': 'birds'}}, properties={{'p': '1'}})"
    )
    assert f"<td>{name}</td><td>1</td><td>ScikitLearn 1.3</td>" in made._repr_html_()
    again = Model.deserialize(workspace, made.serialize())
    assert again.serialize() == made.serialize()
    assert made.serialize()["resourceRequirements"] == {"cpu": 1, "memoryInGB": 0.5, "gpu": None}


def test_models_are_listed_and_found_by_filters(workspace: Workspace, name: str) -> None:
    Path("m").write_bytes(b"1")
    first = Model.register(workspace, "m", name, tags={"a": "1"})
    second = Model.register(workspace, "m", name, tags={"a": "2", "b": "x=y"}, model_framework="Onnx")
    other = Model.register(workspace, "m", f"{name}.other")

    def listed(**filters: object) -> list[str]:
        return [each.id for each in Model.list(workspace, **filters)]  # type: ignore[arg-type]

    assert listed(name=name) == [second.id, first.id]
    assert listed(name=name, latest=True) == [second.id]
    assert listed(name=name, tags=["a"]) == [second.id, first.id]
    assert listed(name=name, tags=[["a", "1"]]) == [first.id]
    assert listed(name=name, tags=["a", ["b", "x=y"]]) == [second.id]
    assert listed(name=name, model_framework="Onnx", page_count=20) == [second.id]
    assert workspace.models[name].version == 2
    assert workspace.models[other.name] is not None
    assert Model(workspace, name, tags=[["a", "1"]]).version == 1
    with pytest.raises(ModelNotFoundException, match="ModelNotFound"):
        Model(workspace, name, tags=["nowhere"])
    with pytest.raises(UserErrorException, match="a list of keys"):
        Model.list(workspace, tags={"a": "1"})  # type: ignore[arg-type]
    with pytest.raises(UserErrorException, match="from 20 to 255"):
        Model.list(workspace, page_count=10)


def test_what_is_not_there_is_model_not_found(workspace: Workspace, name: str) -> None:
    Path("m").write_bytes(b"1")
    asks: list[dict[str, Any]] = [{"name": name}, {"id": f"{name}:3"}]
    for asked in asks:
        with pytest.raises(WebserviceException) as error:
            Model(workspace, **asked)
        assert "ModelNotFound" in error.value.message
    Model.register(workspace, "m", name)
    with pytest.raises(ModelNotFoundException, match="latest one is 1"):
        Model(workspace, name, version=2)
    for wrong in (0, -1, "x", True, 1.5):
        with pytest.raises(WebserviceException, match="whole number"):
            Model(workspace, name, version=wrong)  # type: ignore[arg-type]
    with pytest.raises(WebserviceException, match="by its name or its id"):
        Model(workspace)
    with pytest.raises(WebserviceException, match="<name>:<version>"):
        Model(workspace, id=name)


def test_tags_are_merged_replaced_and_removed_and_properties_stay(workspace: Workspace, name: str) -> None:
    Path("m").write_bytes(b"1")
    model = Model.register(workspace, "m", name, tags={"a": "1"}, properties={"p": "1"})
    model.add_tags({"b": "2"})
    assert model.tags == Model(workspace, name).tags == {"a": "1", "b": "2"}
    model.remove_tags(["a"])
    assert model.tags == {"b": "2"}
    model.update(tags={"c": "3"}, description="d", resource_configuration=ResourceConfiguration(gpu=1))
    assert (model.tags, model.description, model.resource_configuration) == (
        {"c": "3"},
        "d",
        ResourceConfiguration(gpu=1),
    )
    model.update(description="e")
    assert (model.tags, model.description) == ({"c": "3"}, "e")
    model.add_properties({"q": "2"})
    with pytest.raises(WebserviceException, match="property 'p' already"):
        model.add_properties({"p": "2"})
    stale = Model(workspace, name)
    model.add_properties({"r": "3"})
    with pytest.raises(WebserviceException, match="property 'r' already"):
        stale.add_properties({"r": "4"})
    assert Model(workspace, name).properties == {"p": "1", "q": "2", "r": "3"}
    seen = dataset(workspace, "c")
    model.add_dataset_references([("scoring", seen)])
    assert Model.list(workspace, name=name, dataset_id=seen.id)[0].datasets["scoring"][0].id == seen.id
    for wrong in ([("a", "b", "c")], ["a"]):
        with pytest.raises(WebserviceException, match="list of pairs"):
            model.add_dataset_references(wrong)
    with pytest.raises(WebserviceException, match="must be a dict"):
        model.add_tags(["a"])  # type: ignore[arg-type]


def test_a_deleted_model_is_gone_and_its_number_is_not_used_again(workspace: Workspace, name: str) -> None:
    Path("m").write_bytes(b"1")
    Model.register(workspace, "m", name).delete()
    with pytest.raises(ModelNotFoundException):
        Model(workspace, name)
    assert Model.register(workspace, "m", name).version == 2


def test_what_was_registered_from_a_run_knows_it(workspace: Workspace, experiment: Experiment, name: str) -> None:
    run = experiment.start_logging(snapshot_directory=None)
    run.complete()
    Path("m").write_bytes(b"1")
    run.upload_file("kept/model.bin", "m")
    model = run.register_model(name, "kept/model.bin")
    assert (model.run_id, model.experiment_name) == (run.id, experiment.name)
    assert model.run == run
    assert [each.id for each in Model.list(workspace, run_id=run.id)] == [model.id]


def test_each_file_has_an_address_that_needs_no_token(workspace: Workspace, name: str) -> None:
    Path("m/deep er").mkdir(parents=True)
    Path("m/deep er/ü.txt").write_bytes(b"content")
    urls = Model.register(workspace, "m", name).get_sas_urls()
    assert list(urls) == ["m/deep er/ü.txt"]
    parts = urlsplit(urls["m/deep er/ü.txt"])

    def status_and_content(query: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=30)
        connection.request("GET", f"{parts.path}?{query}")
        answer = connection.getresponse()
        return answer.status, answer.read()

    assert status_and_content(parts.query) == (200, b"content")
    for wrong in ("", parts.query[:-3], parts.query.replace("expires=1", "expires=2")):
        assert status_and_content(wrong)[0] == 403
