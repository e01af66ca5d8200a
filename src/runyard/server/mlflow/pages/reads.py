"""What only pages ask for: files by the name of their run or model, and the datasets of experiments."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header
from starlette.responses import Response

from runyard.server.mlflow import artifacts
from runyard.server.mlflow.forms import Form
from runyard.server.mlflow.here import At
from runyard.server.responses.documents import answer
from runyard.store.errors import NotFound
from runyard.store.mlflow import inputs, run_search

router = APIRouter(prefix="/mlflow/{workspace}", include_in_schema=False)

_API = "/api/2.0/mlflow"

Range = Annotated[str | None, Header()]


class Experiments(Form):
    experiment_ids: list[str] | None = None


@router.get("/get-artifact")
@router.get(f"{_API}/get-artifact")
def of_run(here: At, path: str, run_uuid: str = "", run_id: str = "", range: Range = None) -> Response:
    return artifacts.download(f"0/{run_uuid or run_id}/{artifacts.ARTIFACTS}/{path}", here, range)


@router.get("/model-versions/get-artifact")
def of_version(here: At, path: str, name: str, version: str, range: Range = None) -> Response:
    return artifacts.download(f"{artifacts.REGISTRY}/{name}/{version}/{path}", here, range)


@router.get(f"{_API}/logged-models/{{model_id}}/artifacts/files")
def of_model(model_id: str, here: At, artifact_file_path: str, range: Range = None) -> Response:
    address = f"0/{artifacts.MODELS}/{model_id}/{artifacts.ARTIFACTS}/{artifact_file_path}"
    return artifacts.download(address, here, range)


@router.post(f"{_API}/experiments/search-datasets")
def datasets(body: Experiments, here: At) -> Response:
    """Each dataset that runs of the experiments have read, once."""
    here.must_be_wide()
    summaries = []
    with here.read() as connection:
        for id in dict.fromkeys(body.experiment_ids or ()):
            try:
                experiment = here.experiment(connection, id)
            except NotFound:
                continue
            serials = run_search.serials_of(connection, [experiment.id])
            for name, digest, context in inputs.of_experiments(connection, serials):
                summary = {"experiment_id": id, "name": name, "digest": digest}
                summaries.append({**summary, "context": context} if context else summary)
    return answer({"dataset_summaries": summaries})
