"""What every dataset has: an id once it is saved, a name and version once it is registered, and tags.

A dataset is a definition. It is never changed: every operation gives a new one.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Sequence, TypeVar

from runyard.client.http import quote
from runyard.contracts.data import datasets as contract
from runyard.sdk.data import lineage
from runyard.sdk.exceptions import UserErrorException

if TYPE_CHECKING:
    from runyard.client.data.listing import Get, Listing
    from runyard.sdk.data.dataset_consumption import DatasetConsumptionConfig
    from runyard.sdk.workspace.workspace import Workspace

Self = TypeVar("Self", bound="AbstractDataset")
Told = TypeVar("Told")


class _Factory:
    """`AbstractDataset.File` and `.Tabular`, which make datasets, and so are loaded late."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: object = None) -> Any:
        from runyard.sdk.data.dataset import Dataset

        return getattr(Dataset, self._name)


class AbstractDataset:
    """A dataset: `FileDataset` or `TabularDataset`."""

    File = _Factory("File")
    Tabular = _Factory("Tabular")

    def __init__(
        self,
        definition: Mapping[str, Any],
        workspace: Workspace | None = None,
        document: Mapping[str, Any] | None = None,
    ) -> None:
        self._definition = dict(definition)
        self._workspace = workspace
        self._document: dict[str, Any] = dict(document or {})

    # -- finding ------------------------------------------------------------------------------------------------------

    @staticmethod
    def get_by_name(workspace: Workspace, name: str, version: int | str | None = "latest", **kwargs: Any) -> Any:
        """A registered dataset, in its latest version unless one is given: a FileDataset or a TabularDataset."""
        params = {"version": _version(version)}
        found = of_document(workspace, workspace.service.get(_address(workspace, "by-name", _name(name)), params))
        lineage.looked_up(found, workspace)
        return found

    @staticmethod
    def get_by_id(workspace: Workspace, id: str, **kwargs: Any) -> Any:
        """A saved dataset: a FileDataset or a TabularDataset."""
        found = found_by_id(workspace, _name(id))
        lineage.looked_up(found, workspace)
        return found

    @staticmethod
    def get_all(workspace: Workspace) -> RegisteredDatasets:
        """The registered datasets by name, each in its latest version."""
        return RegisteredDatasets(workspace)

    # -- what it is ---------------------------------------------------------------------------------------------------

    @property
    def id(self) -> str | None:
        return self._document.get("id")

    @property
    def name(self) -> str | None:
        return self._document.get("name")

    @property
    def version(self) -> int | None:
        return self._document.get("version")

    @property
    def description(self) -> str | None:
        return self._document.get("description")

    @property
    def tags(self) -> dict[str, str] | None:
        return dict(self._document.get("tags") or {}) if self.name else None

    @property
    def partition_keys(self) -> list[str]:
        return []

    def get_partition_key_values(self, partition_keys: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """The values of the columns that come from paths: of a dataset that was made with partition_format."""
        raise UserErrorException("The dataset has no partition keys: it was made without partition_format.")

    @property
    def data_changed_time(self) -> datetime | None:
        """When the newest of its files was changed."""
        times = [str(each["modified"]) for each in self._listing().files if each["modified"]]
        return datetime.fromisoformat(max(times).replace("Z", "+00:00")) if times else None

    # -- registering --------------------------------------------------------------------------------------------------

    def register(
        self: Self,
        workspace: Workspace,
        name: str,
        description: str | None = None,
        tags: Mapping[str, str] | None = None,
        create_new_version: bool = False,
    ) -> Self:
        """Register the dataset under a name. One that is taken needs create_new_version=True."""
        self._saved(workspace)
        body = {
            "name": _name(name),
            "description": description,
            "tags": _tags(tags or {}),
            "create_new_version": bool(create_new_version),
        }
        made = workspace.service.post(_address(workspace, str(self.id), "registrations"), body)
        found = type(self)(self._definition, workspace, made)
        lineage.registered(found, workspace)
        return found

    def unregister_all_versions(self) -> None:
        """Take the name away, with all versions. Runs still find what they used by its id."""
        if self.name and self._workspace is not None:
            self._workspace.service.delete(_address(self._workspace, "by-name", self.name))
        self._document = {}

    def update(
        self: Self, description: str | None = None, tags: Mapping[str, str] | None = None
    ) -> Self | UserErrorException:
        """Change the description and the tags of this version."""
        if not self.name or self._workspace is None:
            return _unregistered("changed")
        change = {"description": description, "tags": None if tags is None else _tags(tags)}
        address = _address(self._workspace, "by-name", self.name, "versions", str(self.version))
        self._document = dict(self._workspace.service.patch(address, change))
        return self

    def add_tags(self: Self, tags: Mapping[str, str] | None = None) -> Self | UserErrorException:
        """Add tags. A tag that is there with another value is refused: `update` changes it."""
        if not self.name:
            return _unregistered("tagged")
        known = self.tags or {}
        for key, value in _tags(tags or {}).items():
            if known.get(key, value) != value:
                raise UserErrorException(
                    f"The dataset has the tag {key!r} with the value {known[key]!r}. dataset.update(tags=...) "
                    "changes it."
                )
        return self.update(tags={**known, **_tags(tags or {})})

    def remove_tags(self: Self, tags: Sequence[str] | None = None) -> Self | UserErrorException:
        """Remove tags by their keys."""
        if not self.name:
            return _unregistered("changed")
        return self.update(tags={key: value for key, value in (self.tags or {}).items() if key not in (tags or ())})

    def as_named_input(self, name: str) -> DatasetConsumptionConfig:
        """The dataset as an input of a run, under this name."""
        from runyard.sdk.data.dataset_consumption import DatasetConsumptionConfig

        return DatasetConsumptionConfig(name, self)

    # -- within -------------------------------------------------------------------------------------------------------

    def _saved(self, workspace: Workspace | None = None) -> Workspace:
        """Save the definition, unless it is, and return the workspace that it is in."""
        here = workspace or self._workspace
        if here is None:
            from runyard.sdk.workspace.workspace import Workspace as Found

            here = Found.from_config()
        if self.id is None or (self._workspace is not None and here.name != self._workspace.name):
            self._document = dict(here.service.post(_address(here), {"definition": self._definition}, idempotent=True))
        self._workspace = here
        return here

    def _listing(self) -> Listing:
        from runyard.client.data.listing import listing

        return self._asked(listing)

    def _asked(self, ask: Callable[[Get, str], Told]) -> Told:
        """What the server tells of the files, once the definition is saved."""
        here = self._saved()
        return ask(lambda path, params: here.service.get(path, params), _address(here, str(self.id)))

    def _steps(self) -> list[str]:
        """What is done with the files, in words of SDK v1."""
        return [str(step["step"]).capitalize() for step in self._definition.get("steps") or ()]

    def __deepcopy__(self: Self, memo: object) -> Self:
        return self

    def __repr__(self) -> str:
        sources = contract.parse(self._definition).sources
        shown: dict[str, Any] = {
            "source": [str(each) for each in sources],
            "definition": ["GetFiles" if sources[0].url else "GetDatastoreFiles", *self._steps()],
        }
        if self.id is not None:
            known = {"id": self.id, "name": self.name, "version": self.version, "description": self.description}
            known["tags"] = self.tags  # type: ignore[assignment]
            registration = {key: value for key, value in known.items() if value or key in ("id", "name", "version")}
            shown["registration"] = {**registration, "workspace": repr(self._workspace)}
        return json.dumps(shown, indent=2)

    def __str__(self) -> str:
        return f"{type(self).__name__}\n{self!r}"

    def _repr_html_(self) -> str:
        """For notebooks: what it is made of. Nothing is listed or read."""
        from runyard.sdk.notebook import table

        sources = contract.parse(self._definition).sources
        shown = ", ".join(str(each) for each in sources[:3]) + (", ..." if len(sources) > 3 else "")
        tags = ", ".join(f"{key}: {value}" for key, value in (self.tags or {}).items())
        row = (self.name or type(self).__name__, self.version, shown, " → ".join(self._steps()), tags)
        return table(("Dataset", "Version", "From", "Steps", "Tags"), [row])


def found_by_id(workspace: Workspace, id: str) -> AbstractDataset:
    """A saved dataset, by whoever asks: nothing is noted of it."""
    return of_document(workspace, workspace.service.get(_address(workspace, id)))


def of_document(workspace: Workspace, document: Mapping[str, Any]) -> AbstractDataset:
    """The dataset that the server gave a document of, by its kind."""
    kind: type[AbstractDataset]
    if document["definition"]["kind"] == contract.TABULAR:
        from runyard.sdk.tables.tabular_dataset import TabularDataset as kind
    else:
        from runyard.sdk.data.file_dataset import FileDataset as kind
    return kind(document["definition"], workspace, document)


class RegisteredDatasets(Mapping[str, Any]):
    """`ws.datasets`: names are listed at once, each dataset is fetched when it is looked at."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.registrations: list[dict[str, Any]] = list(workspace.service.get(_address(workspace))["datasets"])

    def __getitem__(self, name: str) -> Any:
        if name not in list(self):
            raise KeyError(name)
        return AbstractDataset.get_by_name(self._workspace, name)

    def __iter__(self) -> Iterator[str]:
        return iter([str(each["name"]) for each in self.registrations])

    def __len__(self) -> int:
        return len(self.registrations)

    def __repr__(self) -> str:
        return f"RegisteredDatasets({list(self)!r})"


def _address(workspace: Workspace, *parts: str) -> str:
    named = (quote(part).replace("/", "%2F") for part in parts)
    return "/".join((f"/api/workspaces/{quote(workspace.name)}/datasets", *named))


def _name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise UserErrorException(f"A dataset is known by its name or id, which is a text, not {name!r}.")
    return name


def _version(version: int | str | None) -> int | None:
    if version in (None, "latest"):
        return None
    text = str(version)
    if isinstance(version, bool) or not text.isdigit() or not int(text):
        raise UserErrorException(f"{version!r} is no version of a dataset: use a number from 1 on, or 'latest'.")
    return int(text)


def _tags(tags: Mapping[str, str]) -> dict[str, str]:
    return {str(key): str(value) for key, value in tags.items()}


def _unregistered(how: str) -> UserErrorException:
    return UserErrorException(f"A dataset that is not registered cannot be {how}: dataset.register(ws, 'name') first.")


def must_be_keys(keys: Sequence[str], known: Sequence[str]) -> None:
    """Refuse what are no partition keys of a dataset that has these."""
    unknown = [key for key in keys if key not in known]
    if not keys or unknown or len(set(keys)) < len(keys):
        said = f"{unknown[0]!r} is none" if unknown else "each is named once"
        raise UserErrorException(
            f"Partition keys are columns of the dataset, and {said}. There is: {', '.join(known[:20]) or 'none'}."
        )
