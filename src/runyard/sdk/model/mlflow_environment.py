"""The environment that a model of MLflow names: what its `requirements.txt` lists is installed for its service."""

from __future__ import annotations

import tempfile
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from runyard.sdk.exceptions import UserErrorException

if TYPE_CHECKING:
    from runyard.sdk.environment.environment import Environment
    from runyard.sdk.model.model import Model

REQUIREMENTS, CONDA = "requirements.txt", "conda.yaml"


def environment_of(model: Model) -> Environment:
    """The environment of a model; UserErrorException where its files name none."""
    from runyard.sdk.environment.environment import Environment

    links = model.get_sas_urls()
    for name in (REQUIREMENTS, CONDA):
        place = next((each for each in sorted(links, key=len) if each.rpartition("/")[2] == name), None)
        if place is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / name
            with urllib.request.urlopen(links[place], timeout=60) as answer:
                file.write_bytes(answer.read())
            called = f"mlflow-{model.name}"
            if name == REQUIREMENTS:
                return Environment.from_pip_requirements(called, file)
            return Environment.from_conda_specification(called, file)
    raise UserErrorException(
        f"The model {model.id} has neither a {REQUIREMENTS} nor a {CONDA}, as mlflow.<flavour>.log_model writes them: "
        "give an InferenceConfig with an environment."
    )
