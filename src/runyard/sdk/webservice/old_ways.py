"""The ways to deploy that SDK v1 had before `Model.deploy`: they lead there, and images are refused."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NoReturn, Sequence

from runyard.sdk.webservice.deployment_configuration import refuse_image

if TYPE_CHECKING:
    from runyard.sdk.model.inference_config import InferenceConfig
    from runyard.sdk.model.model import Model
    from runyard.sdk.webservice.deployment_configuration import WebserviceDeploymentConfiguration
    from runyard.sdk.webservice.webservice import Webservice
    from runyard.sdk.workspace.workspace import Workspace


class OldWays:
    """Where these take an `image_config`, an InferenceConfig is meant."""

    @staticmethod
    def deploy(
        workspace: Workspace,
        name: str,
        model_paths: Sequence[str],
        image_config: InferenceConfig,
        deployment_config: WebserviceDeploymentConfiguration | None = None,
        deployment_target: Any = None,
        overwrite: bool = False,
    ) -> Webservice:
        """SDK v1's old way: register the files at `model_paths` as models, and serve them. `image_config` is an
        InferenceConfig; images are refused."""
        from runyard.sdk.model.model import Model

        _check_image_config(image_config)
        models = [
            Model.register(workspace, path, os.path.basename(os.path.normpath(path)) or "model") for path in model_paths
        ]
        return OldWays.deploy_from_model(
            workspace, name, models, image_config, deployment_config, deployment_target, overwrite
        )

    @staticmethod
    def deploy_from_model(
        workspace: Workspace,
        name: str,
        models: Sequence[Model],
        image_config: InferenceConfig,
        deployment_config: WebserviceDeploymentConfiguration | None = None,
        deployment_target: Any = None,
        overwrite: bool = False,
    ) -> Webservice:
        """SDK v1's old way of `Model.deploy`. `image_config` is an InferenceConfig; images are refused."""
        from runyard.sdk.model.deploying import deploy

        _check_image_config(image_config)
        return deploy(workspace, name, models, image_config, deployment_config, deployment_target, overwrite)

    @staticmethod
    def deploy_from_image(
        workspace: Workspace,
        name: str,
        image: Any,
        deployment_config: WebserviceDeploymentConfiguration | None = None,
        deployment_target: Any = None,
        overwrite: bool = False,
    ) -> NoReturn:
        """Refused: a service is made from models and a script."""
        refuse_image()

    @staticmethod
    def deploy_local_from_model(
        workspace: Workspace,
        name: str,
        models: Sequence[Model],
        image_config: InferenceConfig,
        deployment_config: WebserviceDeploymentConfiguration | None = None,
        wait: bool = False,
    ) -> Webservice:
        """SDK v1's old way to serve on this machine. `image_config` is an InferenceConfig; images are refused."""
        from runyard.sdk.model.deploying import deploy
        from runyard.sdk.webservice.local import LocalWebservice

        _check_image_config(image_config)
        chosen = deployment_config or LocalWebservice.deploy_configuration()
        made = deploy(workspace, name, models, image_config, chosen)
        if wait:
            made.wait_for_deployment()
        return made


def _check_image_config(image_config: object) -> None:
    from runyard.sdk.model.inference_config import InferenceConfig

    if not isinstance(image_config, InferenceConfig):
        refuse_image()
