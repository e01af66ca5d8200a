"""The outputs of a run that go to a datastore, as its launch has them (`runyard.contracts.data.outputs`)."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from runyard.contracts.data import datasets
from runyard.contracts.data import outputs as contract
from runyard.contracts.data.outputs import Output
from runyard.sdk.data.configuration import DataPath, DataReferenceConfiguration, OutputData, RegistrationOptions
from runyard.sdk.data.output_dataset_config import OutputFileDatasetConfig
from runyard.sdk.exceptions import UserErrorException

if TYPE_CHECKING:
    from runyard.sdk.submit.runconfig import RunConfiguration

REFERENCE_UPLOAD = "upload"


def outputs_of(run_config: RunConfiguration) -> list[dict[str, Any]]:
    """The outputs of a run, as they are sent. Data references that are uploaded are among them."""
    found = []
    for name, given in list((run_config.output_data or {}).items()):
        made = given.to_config() if isinstance(given, OutputFileDatasetConfig) else given
        if not isinstance(made, OutputData):
            raise UserErrorException(
                f"run_config.output_data[{name!r}] must be an OutputFileDatasetConfig, not a {type(given).__name__}."
            )
        run_config.output_data[name] = made
        found.append(_output(name, made))
    for name, reference in (run_config.data_references or {}).items():
        if reference.mode == REFERENCE_UPLOAD:
            found.append(_uploaded(name, reference))
    return [asdict(each) for each in found]


def _output(name: str, given: OutputData) -> Output:
    mode = str(given.mechanism or contract.MOUNT).lower()
    if mode not in contract.MODES:
        raise UserErrorException(
            f"Runyard does not do outputs as {mode!r}: use as_mount() or as_upload() for {name!r}."
        )
    location = (given.output_location.data_path if given.output_location is not None else None) or DataPath()
    options = given.additional_options
    upload = options.upload_options if options is not None else None
    registration = options.registration_options if options is not None else None
    register = None
    if registration is not None and registration.name:
        register = {
            "name": registration.name,
            "description": registration.description,
            "tags": {str(key): str(value) for key, value in (registration.tags or {}).items()},
        }
    return Output(
        _checked(name),
        location.datastore_name or contract.DEFAULT_DATASTORE,
        location.relative_path or contract.DEFAULT_PATH,
        mode,
        (options.path_on_compute if options is not None else None) or None,
        bool(upload.overwrite) if upload is not None else mode == contract.MOUNT,
        list(upload.source_globs.patterns or ()) if upload is not None and upload.source_globs is not None else [],
        register,
        _table(registration),
    )


def _table(registration: RegistrationOptions | None) -> dict[str, Any] | None:
    """How the files of an output become a table."""
    options = registration.dataset_registration_options if registration is not None else None
    if options is None or not options.additional_transformation:
        return None
    try:
        found = json.loads(options.additional_transformation)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise UserErrorException(
            "additional_transformation is written by OutputFileDatasetConfig.read_delimited_files and "
            "read_parquet_files; what SDK v1 wrote there cannot be read."
        )
    return found


def _uploaded(name: str, reference: DataReferenceConfiguration) -> Output:
    if not reference.data_store_name:
        raise UserErrorException(f"The data reference {name!r} names no datastore.")
    path = reference.path_on_data_store or ""
    return Output(
        _checked(name), reference.data_store_name, path, contract.UPLOAD, reference.path_on_compute, reference.overwrite
    )


def _checked(name: str) -> str:
    try:
        return datasets.check_input(name)
    except datasets.BadDefinition as error:
        raise UserErrorException(str(error)) from None
