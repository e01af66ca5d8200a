"""`WebserviceDeploymentConfiguration`: what all deployment configurations share, and the checks of their arguments.

What was not given stays None in a configuration, as in SDK v1: the defaults are the server's. What Azure has and one
machine has not (certificates, networks, Application Insights) is taken and named in a notice when it is used.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar, Iterable, Mapping, NoReturn

from runyard.contracts.services.states import BadServiceName, check_name
from runyard.sdk.exceptions import WebserviceException

KEY = re.compile(r"[\x21-\x7e]{16,255}")


def checked_service_name(name: object, what: str = "service") -> str:
    """A name as SDK v1 allows it; WebserviceException otherwise.

    >>> checked_service_name("my-service")
    'my-service'
    """
    try:
        return check_name(name, what)
    except BadServiceName as error:
        raise WebserviceException(str(error), inner_exception=error) from None


def checked_dict(what: str, value: object) -> dict[str, str] | None:
    """Tags or properties as texts by name; None stays None."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise WebserviceException(f"{what} must be a dict, such as {{'stage': 'test'}}, not a {type(value).__name__}.")
    return {str(key): str(each) for key, each in value.items()}


def above_zero(configuration: object, names: Iterable[str]) -> None:
    """Refuse numbers that are not more than 0. Those that are None were not given."""
    for name in names:
        value = getattr(configuration, name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
            raise WebserviceException(f"{name} must be a number of more than 0, not {value!r}.")


def given(**settings: object) -> dict[str, Any]:
    """The settings that are not None."""
    return {name: value for name, value in settings.items() if value is not None}


class WebserviceDeploymentConfiguration:
    """How a service is to run. Make one with `deploy_configuration` of AciWebservice, AksWebservice or
    LocalWebservice."""

    _kind: ClassVar[str] = ""
    """What the server calls services of this kind."""

    def __init__(
        self,
        type: type,
        description: str | None = None,
        tags: Mapping[str, str] | None = None,
        properties: Mapping[str, str] | None = None,
        primary_key: str | None = None,
        secondary_key: str | None = None,
        location: str | None = None,
    ) -> None:
        self._webservice_type = type
        self.description = description
        self.tags = tags
        self.properties = properties
        self.primary_key = primary_key
        self.secondary_key = secondary_key
        self.location = location

    def validate_configuration(self) -> None:
        """Raise WebserviceException when the settings do not go together."""
        checked_dict("tags", self.tags)
        checked_dict("properties", self.properties)
        for name in ("primary_key", "secondary_key"):
            key = getattr(self, name)
            if key is not None and not (isinstance(key, str) and KEY.fullmatch(key)):
                raise WebserviceException(f"{name} must be 16 to 255 ASCII characters without spaces, or left out.")

    def print_deploy_configuration(self) -> None:
        """Print the settings that were given."""
        print(f"The settings of a service on {getattr(self._webservice_type, '_compute_name', self._kind)}:")
        for name, value in sorted(vars(self).items()):
            if not name.startswith("_") and value is not None:
                print(f"  {name}: {'***' if name.endswith('_key') else value}")

    @classmethod
    def validate_image(cls, image: object) -> NoReturn:
        """Refused: a service is made from models and a script, not from an image."""
        refuse_image()

    def _settings(self) -> dict[str, Any]:
        """The settings as the server takes them; what was not given is not in it."""
        return {}

    def _unused(self) -> list[str]:
        """Settings that were given and have no effect here."""
        return []

    def _request(self) -> dict[str, Any]:
        """The part of a request for a service that comes from its configuration."""
        return given(
            kind=self._kind,
            settings=self._settings(),
            tags=checked_dict("tags", self.tags),
            properties=checked_dict("properties", self.properties),
            description=self.description,
        )

    def _keys(self) -> dict[str, str]:
        """The keys that were chosen, by the names that `regen_key` has for them."""
        return given(Primary=self.primary_key, Secondary=self.secondary_key)


def refuse_image() -> NoReturn:
    raise WebserviceException(
        "Runyard makes no service from an image: deploy models with an InferenceConfig, "
        "Model.deploy(workspace, name, models, inference_config, deployment_config)."
    )


def filled(configuration: object, names: Iterable[str]) -> list[str]:
    """Those of the attributes that have a value other than None and False."""
    return sorted(name for name in names if getattr(configuration, name) not in (None, False))
