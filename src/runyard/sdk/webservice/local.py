"""`LocalWebservice`: a service for the hand on this machine, whose script is taken anew from its folder by `reload`."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, Mapping, NoReturn, Sequence

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice import wire
from runyard.sdk.webservice.changes import changes_of
from runyard.sdk.webservice.deployment_configuration import WebserviceDeploymentConfiguration, given
from runyard.sdk.webservice.filters import has_model
from runyard.sdk.webservice.webservice import Webservice, shown

if TYPE_CHECKING:
    from runyard.sdk.model.inference_config import InferenceConfig
    from runyard.sdk.model.model import Model
    from runyard.sdk.webservice.wire import Document
    from runyard.sdk.workspace.workspace import Workspace

LOGGED = 200
"""Lines of the log that are shown when a service does not come up."""


class LocalWebserviceDeploymentConfiguration(WebserviceDeploymentConfiguration):
    """The port of a local service; None leaves the choice to the server."""

    _kind = "local"

    def __init__(self, port: int | None = None) -> None:
        super().__init__(LocalWebservice)
        self.port = port
        self.validate_configuration()

    def validate_configuration(self) -> None:
        """Raise WebserviceException when there is no such port."""
        port = self.port
        if port is not None and (isinstance(port, bool) or not isinstance(port, int) or not 1 <= port <= 65535):
            raise WebserviceException(f"port must be a whole number from 1 to 65535, not {port!r}.")

    def _settings(self) -> dict[str, Any]:
        return given(port=self.port)


class LocalWebservice(Webservice):
    """A service for trying out a script.

    >>> LocalWebservice.deploy_configuration(port=8890).port
    8890
    """

    _compute_name = "Local"

    NETWORK_NAME = "azureml-local"
    STATE_DELETED = "deleted"
    STATE_DEPLOYING = "deploying"
    STATE_FAILED = "failed"
    STATE_RUNNING = "running"
    STATE_UNKNOWN = "unknown"

    def __new__(
        cls, workspace: Workspace | None = None, name: str | None = None, must_exist: bool = True, **more: Any
    ) -> LocalWebservice:
        if workspace is None or name is None:
            return object.__new__(cls)
        document = wire.fetched(workspace, name) if must_exist else wire.found(workspace, name)
        return cls._told(workspace, document or _nothing(name))

    def __init__(self, workspace: Workspace, name: str, must_exist: bool = True) -> None:
        """`__new__` has done everything."""

    def _take(self, workspace: Workspace, document: Document) -> None:
        super()._take(workspace, document)
        self.state = _STATES.get(document["state"], self.STATE_UNKNOWN)
        self.auth_enabled = False

    def _take_addresses(self, document: Document) -> None:
        """They are properties, as in SDK v1."""

    @property
    def port(self) -> int | None:
        """The port of the service on this machine."""
        return self._document.get("port")

    @property
    def scoring_uri(self) -> str | None:  # type: ignore[override]  # as SDK v1
        return f"{self._base()}/score" if self.port else None

    @property
    def swagger_uri(self) -> str | None:  # type: ignore[override]  # as SDK v1
        return f"{self._base()}/swagger.json" if self.port else None

    def _base(self) -> str:
        return f"http://localhost:{self.port}"

    # -- finding and making -----------------------------------------------------------------------------------------

    @staticmethod
    def deploy_configuration(port: int | None = None) -> LocalWebserviceDeploymentConfiguration:
        """The configuration of a local service for `Model.deploy`."""
        return LocalWebserviceDeploymentConfiguration(port)

    @staticmethod
    def list(  # type: ignore[override]  # as SDK v1
        workspace: Workspace, model_name: str | None = None, model_id: str | None = None, all: bool | None = None
    ) -> builtins.list[LocalWebservice]:
        """The local services of a workspace: those that run, or with `all` every one."""
        documents = [
            each for each in wire.listed(workspace, {"kind": "local"}) if has_model(each, model_name, model_id)
        ]
        found = [LocalWebservice._told(workspace, each) for each in documents]
        return [each for each in found if all or each.state == LocalWebservice.STATE_RUNNING]

    def deploy_to_cloud(
        self,
        name: str | None = None,
        deployment_config: WebserviceDeploymentConfiguration | None = None,
        deployment_target: Any = None,
    ) -> Webservice:
        """Serve the same models with the same script as a service of another kind, by default an AciWebservice."""
        from runyard.sdk.model.deploying import deploy

        self._must_be(self.STATE_RUNNING, "deployed")
        return deploy(
            self.workspace,
            name or self.name,
            self.models,
            self._inference(),
            deployment_config,
            deployment_target,
            True,
        )

    # -- how it stands ----------------------------------------------------------------------------------------------

    def update_deployment_state(self, must_exist: bool = False) -> None:
        """Fetch the service as it is now. One that is gone has the state `unknown`, or is refused with `must_exist`."""
        if must_exist:
            self._take(self.workspace, wire.fetched(self.workspace, self.name))
            return
        gone = self.state == self.STATE_DELETED
        self._take(self.workspace, wire.found(self.workspace, self.name) or _nothing(self.name))
        if gone and self.state == self.STATE_UNKNOWN:
            self.state = self.STATE_DELETED

    def wait_for_deployment(self, show_output: bool = False) -> None:  # type: ignore[override]  # as SDK v1
        """Wait until the service answers; WebserviceException, with its log printed, when it does not come up."""
        self._must_exist("waited for")
        try:
            self._await_deployment(None, shown if show_output else None)
        except WebserviceException:
            print(self.get_logs(LOGGED))
            raise
        print(f"The local service {self.name} is {self.state}: {self._base()}", flush=True)

    def get_logs(self, num_lines: int = 5000, raw: bool = False) -> str:
        """The last lines that the service has written."""
        self._must_exist("asked for its log")
        return super().get_logs(num_lines)

    def run(self, input_data: Any) -> Any:
        """Ask the service: a JSON text or bytes, sent as they are."""
        if self.state != self.STATE_RUNNING:
            self.update_deployment_state()
        self._must_be(self.STATE_RUNNING, "called")
        return super().run(input_data)

    # -- changing it ------------------------------------------------------------------------------------------------

    def reload(self, wait: bool = False) -> None:
        """Take the script anew from its folder. What runs goes on until the new one is up."""
        self._must_exist("reloaded")
        config = self._inference()
        if config is None:
            raise WebserviceException(
                f"The service {self.name!r} has no script to reload: it serves its model as it is."
            )
        self.update(inference_config=config, wait=wait)

    def update(
        self,
        models: Sequence[Model] | None = None,
        image_config: Any = None,
        deployment_config: LocalWebserviceDeploymentConfiguration | None = None,
        wait: bool = False,
        inference_config: InferenceConfig | None = None,
    ) -> None:
        """Change models, script or port. `wait` waits until the change is done."""
        from runyard.sdk.model.deploying import SOURCE_PROPERTY

        self._must_exist("updated")
        if deployment_config is not None and not isinstance(deployment_config, LocalWebserviceDeploymentConfiguration):
            raise WebserviceException("deployment_config is what LocalWebservice.deploy_configuration() returns.")
        changes = changes_of(
            self,
            image=image_config,
            settings={} if deployment_config is None else deployment_config._settings(),
            models=models,
            inference_config=inference_config,
        )
        if inference_config is not None:
            source = {SOURCE_PROPERTY: str(inference_config._folder().absolute())}
            changes["properties"] = {**self.properties, **source}
        if changes:
            self._change(changes)
        if wait:
            self.wait_for_deployment()

    def delete(self, delete_cache: bool = True, delete_image: bool = False, delete_volume: bool = True) -> None:
        """Stop the service and forget it. There is no image and no volume of it to keep."""
        self._must_exist("deleted")
        super().delete()
        self.state = self.STATE_DELETED
        print(f"The local service {self.name} is deleted.")

    def _inference(self) -> InferenceConfig | None:
        """The script of the service, from the folder that it came from."""
        from runyard.sdk.model.deploying import SOURCE_PROPERTY
        from runyard.sdk.model.inference_config import InferenceConfig

        script = self._revision().get("entry_script")
        if not script:
            return None
        folder = self.properties.get(SOURCE_PROPERTY)
        if not folder:
            raise WebserviceException(
                f"The service {self.name!r} does not know the folder of its script: give update an inference_config."
            )
        return InferenceConfig(entry_script=script, source_directory=folder, environment=self.environment)

    # -- not for this class, as in SDK v1 ---------------------------------------------------------------------------

    def get_keys(self) -> NoReturn:
        """Not for this class: a local service is open on this machine."""
        raise NotImplementedError("A LocalWebservice has no keys: it is open on this machine.")

    def regen_key(self, key: str, set_key: str | None = None) -> NoReturn:
        """Not for this class: a local service is open on this machine."""
        raise NotImplementedError("A LocalWebservice has no keys: it is open on this machine.")

    def get_token(self) -> NoReturn:
        """Not for this class: a local service is open on this machine."""
        raise NotImplementedError("A LocalWebservice has no tokens: it is open on this machine.")

    @classmethod
    def deserialize(cls, workspace: Workspace, webservice_payload: Mapping[str, Any]) -> NoReturn:
        """Not for this class."""
        raise NotImplementedError("A LocalWebservice is found by its name: LocalWebservice(workspace, name).")

    # -- states -----------------------------------------------------------------------------------------------------

    def _must_exist(self, what: str) -> None:
        if self.state in (self.STATE_DELETED, self.STATE_UNKNOWN):
            raise WebserviceException(
                f"The service {self.name!r} cannot be {what}: it is {self.state}. Model.deploy makes it again."
            )

    def _must_be(self, state: str, what: str) -> None:
        if self.state != state:
            raise WebserviceException(
                f"The service {self.name!r} cannot be {what}: it is {self.state}, not {state}. "
                "wait_for_deployment() waits for it, get_logs() shows what it wrote."
            )


_STATES = {
    "Transitioning": LocalWebservice.STATE_DEPLOYING,
    "Healthy": LocalWebservice.STATE_RUNNING,
    "Unhealthy": LocalWebservice.STATE_FAILED,
    "Failed": LocalWebservice.STATE_FAILED,
    "Deleting": LocalWebservice.STATE_DELETED,
}


def _nothing(name: str) -> Document:
    """What is known of a service that is not there."""
    return {"name": name, "kind": "local", "state": "", "settings": {}, "revisions": []}
