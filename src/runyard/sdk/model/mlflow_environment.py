"""The environment that a model of MLflow names in its `conda.yaml`, where there is no `requirements.txt` beside it:
that is read by the server."""

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


def environment_of(model: Model) -> Environment | None:
    """The environment that a model names; None where the server knows it. UserErrorException where its files name
    none."""
    from runyard.sdk.environment.environment import Environment

    links = model.get_sas_urls()
    places = {each.rpartition("/")[2]: each for each in sorted(links, key=len, reverse=True)}
    if REQUIREMENTS in places:
        return None
    if CONDA in places:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / CONDA
            with urllib.request.urlopen(links[places[CONDA]], timeout=60) as answer:
                file.write_bytes(answer.read())
            return Environment.from_conda_specification(f"mlflow-{model.name}", file)
    raise UserErrorException(
        f"The model {model.id} has neither a {REQUIREMENTS} nor a {CONDA}, as mlflow.<flavour>.log_model writes them: "
        "give an InferenceConfig with an environment."
    )
