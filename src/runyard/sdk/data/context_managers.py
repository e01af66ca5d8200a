"""`azureml.data.context_managers`: what SDK v1 wrapped around a script to prepare its data. Here the node does that
before the script starts, so that there is nothing left to enter."""

from __future__ import annotations

from typing import Any, NoReturn

from runyard.sdk.exceptions import UserErrorException


class DatastoreContextManager:
    """Datastores of a run; see the module."""

    def __init__(self, config: Any) -> None:
        self.config = config

    def __enter__(self) -> NoReturn:
        raise UserErrorException(
            "A run's data is prepared by its node before the script starts. In a notebook, use "
            "`with dataset.mount() as mounted:`, dataset.download() or datastore.download()."
        )

    def __exit__(self, *error: object) -> None:
        """Nothing was entered."""


class DatasetContextManager(DatastoreContextManager):
    """Datasets of a run; see the module."""

    def __init__(
        self, config: Any, ignore_already_mounted_error: bool = False, force_mount_with_allow_other: bool = False
    ) -> None:
        super().__init__(config)
        self.ignore_already_mounted_error = ignore_already_mounted_error
        self.force_mount_with_allow_other = force_mount_with_allow_other
