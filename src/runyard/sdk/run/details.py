"""The dict of `get_details` and the exception for a failed run, made from the server's document."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from runyard.client.http import quote
from runyard.contracts.data.seen import OF_DATASET, REGISTERED, of_run
from runyard.sdk.exceptions import ActivityFailedException
from runyard.sdk.run.error import error_lines

if TYPE_CHECKING:
    from runyard.contracts.documents import RunDocument

NO_ERROR = "The run failed, and nothing was said about the cause."


def details(document: RunDocument) -> dict[str, Any]:
    """SDK v1's keys, and `models`; those without a value are left out, except submittedBy."""
    values: dict[str, Any] = {
        "runId": document["id"],
        "target": document["target"],
        "status": document["status"],
        "startTimeUtc": document["started_at"],
        "endTimeUtc": document["ended_at"],
        "services": {},
        "error": error_of(document),
        "warnings": document["warnings"] or None,
        "properties": document["properties"],
        "inputDatasets": input_datasets(document),
        "outputDatasets": output_datasets(document),
        "models": document.get("models") or None,
        "runDefinition": document.get("definition") or None,
        "logFiles": {name: file_url(document, name) for name in document.get("logs", [])},
    }
    found = {key: value for key, value in values.items() if value is not None}
    found["submittedBy"] = document["submitted_by"]
    return found


def input_datasets(document: RunDocument) -> list[dict[str, Any]]:
    """The datasets that the run was given, as SDK v1 lists them."""
    found = []
    seen = of_run(document["properties"])
    for each in (document.get("launch") or {}).get("inputs") or ():
        how: dict[str, Any] = {
            "type": "RunInput",
            "inputName": each["name"],
            "mechanism": str(each["mode"]).capitalize(),
        }
        if each.get("path_on_compute"):
            how["pathOnCompute"] = each["path_on_compute"]
        one: dict[str, Any] = {"dataset": {"id": each["dataset"]}, "consumptionDetails": how}
        if each["name"] in seen:
            one["seen"] = {key: seen[each["name"]].get(key) for key in ("files", "bytes", "digest")}
        found.append(one)
    for key, value in document["properties"].items():
        if key.startswith(OF_DATASET) and not value:
            one = {"dataset": {"id": key[len(OF_DATASET) :]}, "consumptionDetails": {"type": "Reference"}}
            found.append(one)
    return found


def output_datasets(document: RunDocument) -> list[dict[str, Any]]:
    """The datasets that the run has written, as SDK v1 lists them."""
    found = []
    for each in document.get("outputs") or ():
        identifier = {"savedId": each["dataset"]}
        if each["registered"]:
            identifier.update({"registeredId": each["registered"], "registeredVersion": str(each["version"])})
        how = {"outputName": each["name"]}
        found.append({"identifier": identifier, "outputType": "RunOutput", "outputDetails": how})
    for key, name in document["properties"].items():
        if key.startswith(REGISTERED):
            id, _, version = key[len(REGISTERED) :].partition("@")
            identifier = {"savedId": id, "registeredId": str(name), "registeredVersion": version}
            found.append({"identifier": identifier, "outputType": "Reference"})
    return found


def error_of(document: RunDocument) -> dict[str, Any] | None:
    """The run's error. SDK v1 has code and message one level deeper, under `error`: here they are in both places."""
    error = document["error"]
    if error is None:
        return None
    return {**error, "error": {"code": error.get("code"), "message": error.get("message")}}


def error_text(document: RunDocument) -> str:
    """The error as text."""
    return "\n".join(error_lines(document["error"])) if document["error"] else NO_ERROR


def failed(document: RunDocument) -> ActivityFailedException:
    """The exception for a run that has failed."""
    error = document["error"]
    text = json.dumps(error, indent=4, ensure_ascii=False) if error else NO_ERROR
    return ActivityFailedException(text, error=error_of(document), run_id=document["id"])


def file_url(document: RunDocument, name: str) -> str:
    """The URL of a file; like the run's page, it opens without a token."""
    page, _, key = document["web_url"].partition("?")
    return f"{page}/files/{quote(name)}?{key}"
