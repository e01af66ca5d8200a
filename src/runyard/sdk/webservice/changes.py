"""What an `update` of a service asks for: new models, another script, other settings, labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.notices import notice
from runyard.sdk.webservice.deployment_configuration import checked_dict, given, refuse_image

if TYPE_CHECKING:
    from runyard.sdk.model.inference_config import InferenceConfig
    from runyard.sdk.model.model import Model
    from runyard.sdk.webservice.webservice import Webservice


def changes_of(
    service: Webservice,
    *,
    settings: Mapping[str, Any],
    image: Any = None,
    tags: Mapping[str, str] | None = None,
    properties: Mapping[str, str] | None = None,
    description: str | None = None,
    models: Sequence[Model] | None = None,
    inference_config: InferenceConfig | None = None,
) -> dict[str, Any]:
    """The changes as the server takes them. Tags replace those that are there, properties are added to them."""
    from runyard.sdk.model.deploying import launch_part, model_ids

    if image is not None:
        refuse_image()
    added = checked_dict("properties", properties)
    wanted = dict(settings)
    launch = None
    if inference_config is not None:
        launch, variables = launch_part(service.workspace, service.name, inference_config)
        wanted["environment_variables"] = variables
    return given(
        tags=checked_dict("tags", tags),
        properties={**service.properties, **added} if added else None,
        description=description,
        settings=wanted or None,
        models=model_ids(service.workspace, models) if models is not None else None,
        launch=launch,
    )


def check_any(arguments: Mapping[str, Any]) -> None:
    """An update that asks for nothing is a mistake."""
    if not any(value is not None for value in arguments.values()):
        raise WebserviceException("update was called without anything to change.")


def notice_unused(name: str, settings: Mapping[str, Any]) -> None:
    """Name what was given and has no effect on one's own machines."""
    used = sorted(key for key, value in settings.items() if value)
    if used:
        notice(f"The service {name!r} keeps {', '.join(used)} aside: it has no effect on machines of your own.")
