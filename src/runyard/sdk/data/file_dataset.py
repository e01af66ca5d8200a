"""`FileDataset`: files on the web or in datastores, chosen by addresses, paths and patterns."""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterable, NoReturn, Sequence

from runyard.contracts.data import datasets as contract
from runyard.sdk.data.abstract_dataset import AbstractDataset, must_be_keys
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.progress import progress

if TYPE_CHECKING:
    from runyard.client.data.cache import Lease
    from runyard.client.data.listing import Listing
    from runyard.sdk.data.dataset_consumption import DatasetConsumptionConfig
    from runyard.sdk.data.mount_context import MountContext
    from runyard.sdk.tables.expressions import RecordExpression
    from runyard.sdk.workspace.workspace import Workspace


class FileDataset(AbstractDataset):
    """Files, as they are. Made by `Dataset.File.from_files`."""

    def to_path(self) -> list[str]:
        """The path of each file below the folder that a download makes."""
        from runyard.client.data.listing import paths

        return list(self._asked(paths))

    def download(
        self, target_path: str | None = None, overwrite: bool = False, ignore_not_found: bool = False
    ) -> list[str]:
        """Copy the files into a folder (by default a new one), and return their paths."""
        listing = self._listing()
        target = Path(target_path).absolute() if target_path is not None else Path(tempfile.mkdtemp())
        places = [target / path[1:] for path in listing.layout()]
        there = [str(place) for place in places if place.exists() or place.is_symlink()]
        if there and not overwrite:
            raise UserErrorException(
                f"{there[0]} is there already. Use overwrite=True (`--overwrite`), or another folder."
            )
        for each in there:
            os.unlink(each)
        self._bring(listing, places)
        return [str(place) for place in places]

    def mount(self, mount_point: str | None = None, **kwargs: Any) -> MountContext:
        """The files as a folder, for the time of a `with` block: what lies on this machine is linked, the rest is
        fetched, or, of a dataset larger than `data.lazy-above`, comes as it is read."""
        from runyard.sdk.data.mount_context import MountContext

        return MountContext(self, mount_point)

    def as_mount(self, path_on_compute: str | None = None) -> DatasetConsumptionConfig:
        """The dataset as an input of a run, read in place."""
        return self._as_input().as_mount(path_on_compute)

    def as_download(self, path_on_compute: str | None = None) -> DatasetConsumptionConfig:
        """The dataset as an input of a run, copied to the node before the script starts."""
        return self._as_input().as_download(path_on_compute)

    def as_hdfs(self) -> DatasetConsumptionConfig:
        """The dataset as an input of a run, by its address in HDFS; submitting it is refused."""
        return self._as_input().as_hdfs()

    def take(self, count: int) -> FileDataset:
        """The first files."""
        return self._with({"step": contract.TAKE, "count": _count(count)})

    def skip(self, count: int) -> FileDataset:
        """All but the first files."""
        return self._with({"step": contract.SKIP, "count": _count(count)})

    def take_sample(self, probability: float, seed: int | None = None) -> FileDataset:
        """Each file with a probability; the same dataset always has the same ones."""
        return self._with({"step": contract.SAMPLE, "probability": _part(probability), "seed": _seed(seed)})

    def random_split(self, percentage: float, seed: int | None = None) -> tuple[FileDataset, FileDataset]:
        """Two datasets: about this part of the files, and the others."""
        step = {"step": contract.SAMPLE, "probability": _part(percentage), "seed": _seed(seed)}
        return self._with(step), self._with({**step, "rest": True})

    def filter(self, expression: RecordExpression) -> FileDataset:
        """The files for which an expression is true: `dataset.filter(dataset.file_metadata('Size') > 10)`. Nothing of a
        file is read for it."""
        from runyard.contracts.data.file_steps import check_columns
        from runyard.sdk.tables.expressions import RecordExpression

        if not isinstance(expression, RecordExpression):
            raise UserErrorException(f"{expression!r} is no condition: filter(dataset['Path'].contains('x')) has one.")
        try:
            check_columns(expression.document, self.partition_keys)
        except contract.BadDefinition as error:
            raise UserErrorException(str(error)) from None
        return self._with({"step": contract.FILTER, "expression": expression.document})

    def file_metadata(self, col: str) -> RecordExpression:
        """What is known of each file, for `filter`: 'Size', 'LastModifiedTime', 'Extension' (with its dot) or
        'CanSeek'."""
        from runyard.contracts.data.file_steps import FACTS, OF_FILE
        from runyard.sdk.tables.expressions import column

        if col not in FACTS:
            raise UserErrorException(f"{col!r} is not known of the files of a dataset. There is: {', '.join(FACTS)}.")
        return column(OF_FILE + col)

    def __getitem__(self, key: str) -> RecordExpression:
        """For `filter`: 'Path', the address or path of each file, or a name in partition_format."""
        from runyard.sdk.tables.expressions import column

        return column(key)

    @property
    def partition_keys(self) -> list[str]:
        from runyard.contracts.data.tables import partition_columns

        return [name for name, _ in partition_columns(self._definition.get("partition_format") or "")]

    def get_partition_key_values(self, partition_keys: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """The distinct values that the paths have by partition_format. No file is read."""
        from runyard.contracts.data.partitions import distinct_values
        from runyard.sdk.tables.files import shown_path

        wanted = list(partition_keys) if partition_keys is not None else self.partition_keys
        must_be_keys(wanted, self.partition_keys)
        definition = contract.parse(self._definition)
        paths = (shown_path(definition, each) for each in self._listing().files)
        return distinct_values(str(definition.partition_format), paths, wanted)

    def as_cache(self, datacache_store: object) -> NoReturn:
        """SDK v1's preview of caches, which have no counterpart: nodes keep what they fetch by themselves."""
        raise UserErrorException(_NO_CACHE)

    def hydrate(self, datacache_store: object, replica_count: int | None = None) -> NoReturn:
        """As `as_cache`."""
        raise UserErrorException(_NO_CACHE)

    def _as_input(self) -> DatasetConsumptionConfig:
        from runyard.sdk.data.dataset_consumption import DatasetConsumptionConfig

        return DatasetConsumptionConfig(f"input__{self.id[:8]}" if self.id else None, self)

    def _with(self, step: dict[str, Any]) -> FileDataset:
        return FileDataset(
            {**self._definition, "steps": [*(self._definition.get("steps") or ()), step]}, self._workspace
        )

    def _bring(self, listing: Listing, places: Iterable[Path], lease: Lease | None = None) -> None:
        """Put each file at its place: as a copy, or, with a lease on what the cache of this machine has, as a link."""
        from runyard.client.data.cache import FOLDER, Cache
        from runyard.client.data.problem import TransferProblem
        from runyard.client.data_files import append, bring, is_here, rest_of
        from runyard.contracts.home import home

        here = self._saved()

        def serve(address: str, place: Path, halt: Callable[[], None]) -> None:
            with here.service.stream(f"/api/workspaces/{here.name}/{address}", headers=rest_of(place)) as answer:
                append(answer, place, halt)

        used = lease if lease is not None else Cache(home() / FOLDER).lease()
        elsewhere = not (listing.files and is_here(listing.files[0]))
        shown = 0

        def told(came: int, _: int) -> None:
            nonlocal shown
            advance(came - shown)
            shown = came

        try:
            with progress(self.name or "a dataset", listing.bytes if elsewhere else 0) as advance:
                bring(listing.files, places, serve, link=lease is not None, lease=used, told=told)
        except TransferProblem as problem:
            raise UserErrorException(str(problem), inner_exception=problem) from None
        finally:
            if lease is None:
                used.release()


_NO_CACHE = (
    "Runyard has no datacache stores: each node keeps what it has fetched (`runyard data cache ls`). Leave it out."
)


def _count(count: int) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise ValueError(f"A number of files is a whole number from 0 on, not {count!r}.")
    return count


def _part(probability: float) -> float:
    if isinstance(probability, bool) or not isinstance(probability, (int, float)) or not 0 <= probability <= 1:
        raise ValueError(f"A part of a dataset is a number from 0 to 1, not {probability!r}.")
    return float(probability)


def _seed(seed: int | None) -> int:
    return random.SystemRandom().randrange(1 << 31) if seed is None else int(seed)


def workspace_of(datastore: object) -> Workspace | None:
    found: Workspace | None = getattr(datastore, "workspace", None)
    return found
