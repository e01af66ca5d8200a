"""The part of `Model` that makes services of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

if TYPE_CHECKING:
    from runyard.sdk.model.inference_config import InferenceConfig
    from runyard.sdk.model.model import Model
    from runyard.sdk.model.package import ModelPackage
    from runyard.sdk.model.profile import ModelProfile
    from runyard.sdk.tables.tabular_dataset import TabularDataset
    from runyard.sdk.webservice.deployment_configuration import WebserviceDeploymentConfiguration
    from runyard.sdk.webservice.webservice import Webservice
    from runyard.sdk.workspace.workspace import Workspace


class ModelDeployment:
    """What a model is served with. The registry alone needs nothing of it."""

    @staticmethod
    def deploy(
        workspace: Workspace,
        name: str,
        models: Sequence[Model],
        inference_config: InferenceConfig | None = None,
        deployment_config: WebserviceDeploymentConfiguration | None = None,
        deployment_target: Any = None,
        overwrite: bool = False,
        show_output: bool = False,
    ) -> Webservice:
        """Serve models. Returns at once; `wait_for_deployment` waits until the service is up.

        Without an `inference_config` one model of a known framework is served without code. Without a
        `deployment_config` it is an AciWebservice, or with an AksCompute as `deployment_target` an AksWebservice.

        >>> service = Model.deploy(ws, "tensorflow-web-service", [model])  # doctest: +SKIP
        """
        from runyard.sdk.model.deploying import deploy

        return deploy(
            workspace,
            name,
            models,
            inference_config,
            deployment_config,
            deployment_target,
            overwrite,
            show_output,
        )

    @staticmethod
    def package(
        workspace: Workspace,
        models: Sequence[Model],
        inference_config: InferenceConfig | None = None,
        generate_dockerfile: bool = False,
        image_name: str | None = None,
        image_label: str | None = None,
    ) -> ModelPackage:
        """What serves the models without Runyard: a folder with a Dockerfile, or an image of it.

        >>> package = Model.package(ws, [model], inference_config, generate_dockerfile=True)  # doctest: +SKIP
        >>> package.save("birds-service")  # doctest: +SKIP
        """
        from runyard.sdk.model.package import package

        return package(workspace, models, inference_config, generate_dockerfile, image_name, image_label)

    @staticmethod
    def profile(
        workspace: Workspace,
        profile_name: str,
        models: Sequence[Model],
        inference_config: InferenceConfig,
        input_dataset: TabularDataset,
        cpu: float | None = None,
        memory_in_gb: float | None = None,
        description: str | None = None,
    ) -> ModelProfile:
        """Measure a real service over a dataset of requests, a text in each row, in each size that the machine holds
        (up to `cpu` cores), and recommend one."""
        from runyard.sdk.model.profile import profile

        return profile(
            workspace,
            profile_name,
            models,
            inference_config,
            input_dataset,
            cpu,
            memory_in_gb,
            description,
        )

    @staticmethod
    def print_configuration(
        models: Sequence[Model],
        inference_config: InferenceConfig | None,
        deployment_config: WebserviceDeploymentConfiguration | None,
        deployment_target: Any,
    ) -> None:
        """Print what a service is made from, as `deploy` does with `show_output`."""
        from runyard.sdk.model.deploying import print_configuration

        print_configuration(models, inference_config, deployment_config, deployment_target)
