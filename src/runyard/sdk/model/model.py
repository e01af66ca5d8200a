"""`Model`: a version of a model in the registry, with its files, its origin and what is said of it."""

from __future__ import annotations

import builtins
import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence, cast

from runyard.sdk.exceptions import ModelNotFoundException, UserErrorException, WebserviceException
from runyard.sdk.model import arguments, fetching, paths, registering
from runyard.sdk.model.deployment import ModelDeployment
from runyard.sdk.model.refusals import translated
from runyard.sdk.model.registering import address
from runyard.sdk.submit.resource_configuration import ResourceConfiguration

if TYPE_CHECKING:
    from runyard.contracts.documents import ModelDocument
    from runyard.sdk.run.run import Run
    from runyard.sdk.workspace.workspace import Workspace

PAGES = (20, 255)
"""The least and the most models of one page, as in SDK v1."""


class Model(ModelDeployment):
    """A version of a model: the latest of a name, unless a version is given.

    >>> model = Model(ws, "birds")  # doctest: +SKIP
    """

    class Framework:
        """The frameworks that models are made with."""

        CUSTOM = "Custom"
        TENSORFLOW = "TensorFlow"
        SCIKITLEARN = "ScikitLearn"
        ONNX = "Onnx"
        TFKERAS = "TfKeras"
        PYTORCH = "PyTorch"
        MULTI = "Multi"
        MLFLOW = "MLflow"

    workspace: Workspace
    _document: ModelDocument

    def __init__(
        self,
        workspace: Workspace,
        name: str | None = None,
        id: str | None = None,
        tags: Sequence[Any] | None = None,
        properties: Sequence[Any] | None = None,
        version: int | None = None,
        run_id: str | None = None,
        model_framework: str | None = None,
        expand: bool = True,
        **kwargs: Any,
    ) -> None:
        self.workspace = workspace
        if id is not None:
            name, version = _of_id(id)
        if not name:
            raise WebserviceException("A model is found by its name or its id: Model(workspace, 'name').")
        number = arguments.version_number(version)
        filters = {
            "run_id": run_id,
            "framework": model_framework,
            "tag": arguments.wanted_labels("tags", tags),
            "property": arguments.wanted_labels("properties", properties),
        }
        if any(filters.values()):
            self._document = _newest(workspace, name, number, filters)
        else:
            self._document = _fetched(workspace, name, number)

    @classmethod
    def _told(cls, workspace: Workspace, document: ModelDocument) -> Model:
        """A model that the server has given the document of."""
        model = cls.__new__(cls)
        model.workspace, model._document = workspace, document
        return model

    # -- registering and finding --------------------------------------------------------------------------------------

    @staticmethod
    def register(
        workspace: Workspace,
        model_path: str | os.PathLike[str],
        model_name: str,
        tags: Mapping[str, str] | None = None,
        properties: Mapping[str, str] | None = None,
        description: str | None = None,
        datasets: Sequence[Any] | None = None,
        model_framework: str | None = None,
        model_framework_version: str | None = None,
        child_paths: Sequence[str] | None = None,
        sample_input_dataset: Any = None,
        sample_output_dataset: Any = None,
        resource_configuration: ResourceConfiguration | None = None,
        **kwargs: Any,
    ) -> Model:
        """Register a file or folder below the working folder as the next version of a model.

        Of a folder, `child_paths` picks parts. Content that the server has is not sent again.
        """
        arguments.checked_name(model_name)
        details = arguments.details(
            workspace,
            tags,
            properties,
            description,
            datasets,
            model_framework,
            model_framework_version,
            sample_input_dataset,
            sample_output_dataset,
            resource_configuration,
        )
        print(f"Registering model {model_name}")
        return Model._told(workspace, registering.from_folder(workspace, model_path, model_name, child_paths, details))

    @staticmethod
    def list(
        workspace: Workspace,
        name: str | None = None,
        tags: Sequence[Any] | None = None,
        properties: Sequence[Any] | None = None,
        run_id: str | None = None,
        latest: bool = False,
        dataset_id: str | None = None,
        expand: bool = True,
        page_count: int = 255,
        model_framework: str | None = None,
    ) -> builtins.list[Model]:
        """The models of a workspace, newest first; with `latest`, one version of each name."""
        if not isinstance(page_count, int) or not PAGES[0] <= page_count <= PAGES[1]:
            raise UserErrorException(f"page_count is a whole number from {PAGES[0]} to {PAGES[1]}, not {page_count!r}.")
        filters = {
            "name": name,
            "run_id": run_id,
            "framework": model_framework,
            "dataset": dataset_id,
            "latest": latest,
            "tag": arguments.wanted_labels("tags", tags),
            "property": arguments.wanted_labels("properties", properties),
        }
        return [Model._told(workspace, each) for each in _found(workspace, filters, page_count)]

    @staticmethod
    def get_model_path(model_name: str, version: int | None = None, _workspace: Workspace | None = None) -> str:
        """The path of a model's files: in a service beside it, in a run or a notebook fetched, once, to
        `azureml-models/<name>/<version>/` in the working folder."""
        return paths.model_path(model_name, version, _workspace)

    def download(
        self, target_dir: str | os.PathLike[str] = ".", exist_ok: bool = False, exists_ok: bool | None = None
    ) -> str:
        """Fetch the model into a folder; returns the path of its file or folder there."""
        if exists_ok is not None:
            raise WebserviceException("exists_ok is spelled exist_ok: model.download(target_dir, exist_ok=True).")
        return str(fetching.bring(self.workspace, self._document, Path(target_dir), exist_ok))

    # -- what it is ---------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._document["name"]

    @property
    def version(self) -> int:
        return self._document["version"]

    @property
    def id(self) -> str:
        """`<name>:<version>`."""
        return self._document["id"]

    @property
    def description(self) -> str | None:
        return self._document["description"]

    @property
    def tags(self) -> dict[str, str]:
        return self._document["tags"]

    @property
    def properties(self) -> dict[str, str]:
        return self._document["properties"]

    @property
    def model_framework(self) -> str:
        return self._document["framework"]

    @property
    def model_framework_version(self) -> str | None:
        return self._document["framework_version"]

    @property
    def resource_configuration(self) -> ResourceConfiguration | None:
        found = self._document["resource_configuration"]
        return None if found is None else ResourceConfiguration(found["cpu"], found["memory_in_gb"], found["gpu"])

    @property
    def created_time(self) -> datetime:
        return datetime.fromisoformat(self._document["created_at"].replace("Z", "+00:00"))

    @property
    def created_by(self) -> dict[str, Any]:
        return {"userName": self._document["created_by"]}

    @property
    def run_id(self) -> str | None:
        """The id of the run that the model came from; None for one that was registered from files alone."""
        return self._document["run_id"]

    @property
    def experiment_name(self) -> str | None:
        return self._document["experiment"]

    @property
    def run(self) -> Run | None:
        """The run that the model came from."""
        return None if self.run_id is None else self.workspace.get_run(self.run_id)

    @property
    def datasets(self) -> dict[str, builtins.list[Any]]:
        """The datasets of the model, by what they are to it."""
        found: dict[str, builtins.list[Any]] = {}
        for each in self._document["datasets"]:
            found.setdefault(each["name"], []).append(_dataset(self.workspace, each["id"]))
        return found

    @property
    def sample_input_dataset(self) -> Any:
        return _dataset(self.workspace, self._document["sample_input_dataset"])

    @property
    def sample_output_dataset(self) -> Any:
        return _dataset(self.workspace, self._document["sample_output_dataset"])

    @property
    def unpack(self) -> bool:
        """Whether the model is a folder."""
        return self._document["unpack"]

    @property
    def mime_type(self) -> str:
        return "application/x-python"

    @property
    def url(self) -> str:
        """The address of the model at the server."""
        return self.workspace.service.url + self._address()

    @property
    def parent_id(self) -> str | None:
        """The model that this one was made from: Runyard converts none."""
        return None

    @property
    def derived_model_ids(self) -> builtins.list[str]:
        return []

    def get_sas_urls(self) -> dict[str, str]:
        """An address for each file of the model, by its path, that can be read without a token for six hours."""
        with translated():
            return dict(self.workspace.service.get(f"{self._address()}/links")["links"])

    # -- changing -----------------------------------------------------------------------------------------------------

    def update(
        self,
        tags: Mapping[str, str] | None = None,
        description: str | None = None,
        sample_input_dataset: Any = None,
        sample_output_dataset: Any = None,
        resource_configuration: ResourceConfiguration | None = None,
    ) -> None:
        """Replace the tags, the description and so on; what is None stays as it is."""
        change = {
            "tags": None if tags is None else arguments.labels("tags", tags),
            "description": arguments.text("description", description),
            "sample_input_dataset": arguments.dataset_id(self.workspace, sample_input_dataset),
            "sample_output_dataset": arguments.dataset_id(self.workspace, sample_output_dataset),
            "resource_configuration": arguments.resources(resource_configuration),
        }
        self._change({key: value for key, value in change.items() if value is not None})

    def update_tags_properties(
        self,
        add_tags: Mapping[str, str] | None = None,
        remove_tags: Sequence[str] | None = None,
        add_properties: Mapping[str, str] | None = None,
    ) -> None:
        """Add tags (a tag that is there gets the new value), remove tags by their keys, and add properties."""
        added = arguments.labels("properties", add_properties)
        fixed = sorted(added.keys() & self.properties.keys())
        if fixed:
            raise WebserviceException(
                f"The model {self.id} has the property {fixed[0]!r} already, and properties stay as they were set. Use "
                "a tag for what changes."
            )
        if isinstance(remove_tags, str):
            raise WebserviceException(f"The tags to remove are a list of keys, such as [{remove_tags!r}].")
        change = {
            "set_tags": arguments.labels("tags", add_tags),
            "remove_tags": [str(key) for key in remove_tags or ()],
            "add_properties": added,
        }
        self._change(change)

    def add_tags(self, tags: Mapping[str, str]) -> None:
        """Add tags; one that is there gets the new value."""
        self.update_tags_properties(add_tags=tags)

    def remove_tags(self, tags: Sequence[str]) -> None:
        """Remove tags by their keys."""
        self.update_tags_properties(remove_tags=tags)

    def add_properties(self, properties: Mapping[str, str]) -> None:
        """Add properties. Once set, a property stays as it is."""
        self.update_tags_properties(add_properties=properties)

    def add_dataset_references(self, datasets: Sequence[Any]) -> None:
        """Name datasets that the model has to do with: pairs such as `('training', dataset)`."""
        self._change({"add_datasets": arguments.dataset_references(self.workspace, datasets)})

    def delete(self) -> None:
        """Delete this version for good, with those of its files that nothing else uses. One that a service needs is
        refused."""
        with translated():
            self.workspace.service.delete(self._address())

    # -- as a dict ----------------------------------------------------------------------------------------------------

    def serialize(self) -> dict[str, Any]:
        """The model as a dict; `Model.deserialize` makes a Model of it again."""
        known = self._document
        resources = self.resource_configuration
        return {
            "id": self.id,
            "name": self.name,
            "version": self.version,
            "workspaceName": self.workspace.name,
            "framework": self.model_framework,
            "frameworkVersion": self.model_framework_version,
            "tags": dict(self.tags),
            "properties": dict(self.properties),
            "description": self.description,
            "createdTime": known["created_at"],
            "createdBy": self.created_by,
            "experimentName": self.experiment_name,
            "runId": self.run_id,
            "datasets": [dict(each) for each in known["datasets"]],
            "sampleInputDatasetId": known["sample_input_dataset"],
            "sampleOutputDatasetId": known["sample_output_dataset"],
            "resourceRequirements": None if resources is None else resources.serialize(),
            "unpack": self.unpack,
            "mimeType": self.mime_type,
            "url": self.url,
            "parentModelId": self.parent_id,
            "derivedModelIds": self.derived_model_ids,
        }

    @staticmethod
    def deserialize(workspace: Workspace, model_payload: Mapping[str, Any]) -> Model:
        """The model that a dict of `serialize` stands for, as it is now."""
        if not isinstance(model_payload, Mapping) or "id" not in model_payload:
            raise WebserviceException("Model.deserialize takes the dict that model.serialize() gives.")
        return Model(workspace, id=str(model_payload["id"]))

    def __repr__(self) -> str:
        return (
            f"Model(workspace={self.workspace!r}, name={self.name}, id={self.id}, version={self.version}, "
            f"tags={self.tags}, properties={self.properties})"
        )

    def _repr_html_(self) -> str:
        from runyard.sdk.notebook import table

        known = self._document
        framework = " ".join(filter(None, (known["framework"], known["framework_version"])))
        tags = ", ".join(f"{key}: {value}" for key, value in known["tags"].items())
        row = (known["name"], known["version"], framework, known["run_id"], known["files"], known["size"], tags)
        return table(("Name", "Version", "Framework", "Run", "Files", "Bytes", "Tags"), [row])

    # -- within -------------------------------------------------------------------------------------------------------

    def _address(self) -> str:
        return address(self.workspace, self.name, self.version)

    def _change(self, change: Mapping[str, Any]) -> None:
        with translated():
            self._document = cast("ModelDocument", self.workspace.service.patch(self._address(), change))


def _of_id(id: str) -> tuple[str, int | None]:
    name, colon, version = str(id).rpartition(":")
    if not colon:
        raise WebserviceException(f"The id of a model is <name>:<version>, such as 'birds:3', not {id[:80]!r}.")
    return name, arguments.version_number(version)


def _fetched(workspace: Workspace, name: str, version: int | None) -> ModelDocument:
    arguments.checked_name(name)
    with translated():
        where = address(workspace, name, "latest" if version is None else version)
        return cast("ModelDocument", workspace.service.get(where))


def _newest(workspace: Workspace, name: str, version: int | None, filters: Mapping[str, Any]) -> ModelDocument:
    for each in _found(workspace, {**filters, "name": name}, PAGES[1]):
        if version in (None, each["version"]):
            return each
    raise ModelNotFoundException(
        f"ModelNotFound: no version of the model {name[:80]!r} in the workspace {workspace.name} is as it was asked "
        "for."
    )


def _found(workspace: Workspace, filters: Mapping[str, Any], page: int) -> Iterator[ModelDocument]:
    after: int | None = None
    while True:
        with translated():
            answer = workspace.service.get(address(workspace), {**filters, "limit": page, "after": after})
        yield from cast("builtins.list[ModelDocument]", answer["models"])
        after = answer["next"]
        if after is None:
            return


def _dataset(workspace: Workspace, id: str | None) -> Any:
    if id is None:
        return None
    from runyard.sdk.data.abstract_dataset import AbstractDataset

    return AbstractDataset.get_by_id(workspace, id)
