"""The arguments of models' methods: what users write, checked, as the server takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

from runyard.contracts import names
from runyard.sdk.exceptions import UserErrorException, WebserviceException
from runyard.sdk.labels import checked_labels

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace


def checked_name(name: object) -> str:
    try:
        return names.check("model", name)
    except names.BadName as error:
        raise WebserviceException(str(error), inner_exception=error) from None


def labels(kind: str, given: object) -> dict[str, str]:
    """Tags or properties: texts by name. None is none of them."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise WebserviceException(
            f"The {kind} of a model must be a dict such as {{'area': 'birds'}}, not a {type(given).__name__}."
        )
    return {key: str(value) for key, value in checked_labels(kind, given, none_allowed=False).items()}


def details(
    workspace: Workspace,
    tags: object = None,
    properties: object = None,
    description: str | None = None,
    datasets: Sequence[Any] | None = None,
    model_framework: str | None = None,
    model_framework_version: str | None = None,
    sample_input_dataset: Any = None,
    sample_output_dataset: Any = None,
    resource_configuration: Any = None,
) -> dict[str, Any]:
    """What a request that registers a model says of it."""
    if model_framework_version is not None and model_framework is None:
        raise WebserviceException(
            f"model_framework_version is {model_framework_version!r}, and model_framework is not given. Name both, for "
            "example model_framework=Model.Framework.TENSORFLOW."
        )
    return {
        "tags": labels("tags", tags),
        "properties": labels("properties", properties),
        "description": text("description", description),
        "datasets": dataset_references(workspace, datasets),
        "framework": framework(model_framework),
        "framework_version": None if model_framework_version is None else str(model_framework_version),
        "sample_input_dataset": dataset_id(workspace, sample_input_dataset),
        "sample_output_dataset": dataset_id(workspace, sample_output_dataset),
        "resource_configuration": resources(resource_configuration),
    }


def framework(value: str | None) -> str | None:
    """A framework as `Model.Framework` spells it; one that it does not have, as it is."""
    from runyard.sdk.model.model import Model

    given = text("model_framework", value)
    known = [each for name, each in vars(Model.Framework).items() if name.isupper()]
    return next((each for each in known if given is not None and each.lower() == given.lower()), given)


def text(what: str, value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise WebserviceException(f"The {what} of a model must be a text, not a {type(value).__name__}.")
    return value


def dataset_references(workspace: Workspace, datasets: Sequence[Any] | None) -> list[dict[str, str]]:
    """Pairs of what a dataset is to a model, and the dataset."""
    found: list[dict[str, str]] = []
    for each in datasets or ():
        if not isinstance(each, (tuple, list)) or len(each) != 2:
            raise WebserviceException(
                "The datasets of a model are a list of pairs such as ('training', dataset), and "
                f"{names.shown(each)} is none."
            )
        found.append({"name": str(each[0]), "id": str(dataset_id(workspace, each[1]))})
    return found


def dataset_id(workspace: Workspace, dataset: Any) -> str | None:
    """The id of a dataset; it is saved first, unless it is."""
    if dataset is None or isinstance(dataset, str):
        return dataset
    from runyard.sdk.data.abstract_dataset import AbstractDataset

    if not isinstance(dataset, AbstractDataset):
        raise WebserviceException(f"A model names datasets (of azureml.core.Dataset), not a {type(dataset).__name__}.")
    dataset._saved(workspace)
    return dataset.id


def resources(configuration: Any) -> dict[str, Any] | None:
    if configuration is None:
        return None
    from runyard.sdk.submit.resource_configuration import ResourceConfiguration

    if not isinstance(configuration, ResourceConfiguration):
        raise WebserviceException(
            "resource_configuration must be a ResourceConfiguration (of azureml.core.resource_configuration), not a "
            f"{type(configuration).__name__}."
        )
    return {"cpu": configuration.cpu, "memory_in_gb": configuration.memory_in_gb, "gpu": configuration.gpu}


def wanted_labels(kind: str, given: object) -> list[str]:
    """What to look for, as a query has it: `['key', ['key', 'value']]` in SDK v1's words."""
    if given is None:
        return []
    if not isinstance(given, (list, tuple)):
        raise UserErrorException(
            f"The {kind} to look for are a list of keys, or of pairs such as ['area', 'birds'], not a "
            f"{type(given).__name__}."
        )
    found: list[str] = []
    for each in given:
        if isinstance(each, str):
            found.append(each)
        elif isinstance(each, (list, tuple)) and len(each) == 2:
            found.append(f"{each[0]}={each[1]}")
        else:
            raise UserErrorException(f"{names.shown(each)} is neither a key nor a pair of a key and a value.")
    return found


def version_number(version: object) -> int | None:
    """A version as users give it, also as a text of digits."""
    if version is None:
        return None
    shown = str(version)
    if isinstance(version, bool) or not shown.isdecimal() or len(shown) > 18 or not int(shown):
        raise WebserviceException(f"The version of a model is a whole number from 1 on, not {names.shown(version)}.")
    return int(shown)
