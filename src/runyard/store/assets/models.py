"""Models: names with versions that count up, each a tree of files with what is known of it.

A version's files never change, nor do its properties once they are set; tags, description and the like do. A number is
used once, also when its version was deleted. Services that need a model are noted in `model_uses`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, func, insert, select, update

from runyard.contracts import names
from runyard.store.assets import datasets
from runyard.store.assets.model_content import Content
from runyard.store.content import deletion
from runyard.store.content.deletion import Freed
from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.runs import runs, workspaces
from runyard.store.store import Store
from runyard.store.tables import model_aliases, model_names, model_uses, models

CUSTOM = "Custom"
"""The framework of a model of which none was named."""

LONGEST_TEXT = 10_000
LONGEST_KEY = 255
MOST_LABELS = 500
MOST_DATASETS = 500

Label = tuple[str, "str | None"]
"""A tag or property that is looked for: with None, any value will do."""


@dataclass(frozen=True)
class Details:
    """What is said of a model besides its name and its files."""

    framework: str = CUSTOM
    framework_version: str | None = None
    resource_configuration: dict[str, Any] | None = None
    tags: dict[str, str] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    description: str | None = None
    datasets: list[dict[str, str]] = field(default_factory=list)
    sample_input_dataset: str | None = None
    sample_output_dataset: str | None = None
    created_by: str | None = None


@dataclass(frozen=True)
class Model:
    """One version."""

    serial: int
    workspace: str
    name: str
    version: int
    content: Content
    details: Details
    run_id: str | None
    experiment: str | None
    created_at: datetime
    services: list[str]

    @property
    def id(self) -> str:
        return f"{self.name}:{self.version}"


@dataclass(frozen=True)
class ModelFilter:
    name: str | None = None
    run_id: str | None = None
    framework: str | None = None
    dataset: str | None = None
    tags: Sequence[Label] = ()
    properties: Sequence[Label] = ()
    latest: bool = False


def register(
    connection: Connection,
    workspace: str,
    name: str,
    content: Content,
    details: Details,
    run_id: str | None = None,
    request: str | None = None,
) -> Model:
    """Give a tree the next version of a name. A request that was carried out before gives the model of then."""
    names.check("model", name)
    here = workspaces.serial(connection, workspace)
    if request is not None:
        before = connection.execute(_of(here).where(models.c.request == request)).first()
        if before is not None:
            return _model(connection, workspace, before)
    _check(connection, workspace, details)
    run = None if run_id is None else runs.get(connection, run_id)
    if run is not None and run.workspace != workspace:
        raise Refused("bad_model", f"The run {run.id!r} is not in the workspace {workspace!r}.")
    version = _next_version(connection, here, name)
    connection.execute(
        insert(models).values(
            workspace=here,
            name=name,
            version=version,
            tree=content.tree,
            root=content.root,
            unpack=int(content.folder),
            size=content.size,
            files=content.files,
            run_id=None if run is None else run.id,
            experiment=None if run is None else run.experiment,
            created_at=datetime.now(timezone.utc),
            request=request,
            **_columns(details),
        )
    )
    return get(connection, workspace, name, version)


def by_request(connection: Connection, workspace: str, request: str) -> Model | None:
    """The model that a request has registered, if it has."""
    here = workspaces.serial(connection, workspace)
    row = connection.execute(_of(here).where(models.c.request == request)).first()
    return None if row is None else _model(connection, workspace, row)


def get(connection: Connection, workspace: str, name: str, version: int | None = None) -> Model:
    """A version of a model, by default the latest that there is."""
    here = workspaces.serial(connection, workspace)
    wanted = _of(here).where(models.c.name == name).order_by(models.c.version.desc()).limit(1)
    row = connection.execute(wanted if version is None else wanted.where(models.c.version == version)).first()
    if row is None:
        raise _not_found(connection, workspace, here, name, version)
    return _model(connection, workspace, row)


def find(
    connection: Connection, workspace: str, wanted: ModelFilter, limit: int, before: int | None = None
) -> tuple[list[Model], int | None]:
    """The models that are wanted, newest first, and where to go on (`before` of the next call), if there are more."""
    here = workspaces.serial(connection, workspace)
    query = _of(here).order_by(models.c.serial.desc())
    if before is not None:
        query = query.where(models.c.serial < before)
    for column, value in (
        (models.c.name, wanted.name),
        (models.c.run_id, wanted.run_id),
        (models.c.framework, wanted.framework),
    ):
        if value is not None:
            query = query.where(column == value)
    if wanted.latest:
        other = models.alias()
        newer = select(other.c.serial).where(
            other.c.workspace == here, other.c.name == models.c.name, other.c.version > models.c.version
        )
        query = query.where(~newer.exists())
    found: list[Row[Any]] = []
    for row in connection.execution_options(yield_per=200).execute(query):
        if _fits(row, wanted):
            found.append(row)
            if len(found) > limit:
                break
    uses = _services(connection, [row.serial for row in found])
    listed = [_model(connection, workspace, row, uses) for row in found[:limit]]
    return listed, listed[-1].serial if len(found) > limit else None


def of_run(connection: Connection, run_id: str) -> list[tuple[str, int]]:
    """The names and versions of what was registered from a run, in the order in which that was done."""
    rows = select(models.c.name, models.c.version).where(models.c.run_id == run_id).order_by(models.c.serial)
    return [(row.name, row.version) for row in connection.execute(rows)]


def change(
    connection: Connection,
    workspace: str,
    name: str,
    version: int | None,
    values: Mapping[str, Any],
    set_tags: Mapping[str, str] | None = None,
    remove_tags: Iterable[str] = (),
    add_properties: Mapping[str, str] | None = None,
    add_datasets: Iterable[Mapping[str, str]] = (),
) -> Model:
    """Change what is said of a version. `values` replaces fields of `Details`; the rest adds to them or takes away.

    Conflict `property_fixed` for a property that has another value.
    """
    before = get(connection, workspace, name, version)
    now = {**vars(before.details), **values}
    now["tags"] = {
        key: text for key, text in {**now["tags"], **(set_tags or {})}.items() if key not in set(remove_tags)
    }
    now["properties"] = _with_properties(before, add_properties or {})
    known = list(before.details.datasets)
    now["datasets"] = known + [dict(each) for each in add_datasets if dict(each) not in known]
    details = Details(**now)
    _check(connection, workspace, details)
    connection.execute(update(models).where(models.c.serial == before.serial).values(**_columns(details)))
    return get(connection, workspace, name, before.version)


def remove(store: Store, workspace: str, name: str, version: int) -> Freed:
    """Delete a version, and what nothing else uses of its files. Conflict `model_in_use` while a service needs it."""
    with store.database.write() as connection:
        model = get(connection, workspace, name, version)
        if model.services:
            several = "services" if len(model.services) > 1 else "service"
            raise Conflict(
                "model_in_use",
                f"The model {model.id!r} is in use by the {several} {', '.join(model.services)}.",
                "Delete the service, or let it have another model, and then delete this one.",
                {"services": model.services},
            )
        connection.execute(delete(models).where(models.c.serial == model.serial))
        here = workspaces.serial(connection, workspace)
        named = (model_aliases.c.workspace == here, model_aliases.c.name == name, model_aliases.c.version == version)
        connection.execute(delete(model_aliases).where(*named))
        digests = deletion.release_snapshots(connection, [model.content.tree])
    return deletion.clear_objects(store, digests)


def set_uses(connection: Connection, workspace: str, service: str, used: Iterable[tuple[str, int]]) -> None:
    """Note which models a service needs, in place of those that it needed before; none when it is deleted."""
    here = workspaces.serial(connection, workspace)
    connection.execute(delete(model_uses).where(model_uses.c.workspace == here, model_uses.c.service == service))
    serials = {get(connection, workspace, name, version).serial for name, version in used}
    if serials:
        rows = [{"workspace": here, "service": service, "model": serial} for serial in sorted(serials)]
        connection.execute(insert(model_uses), rows)


def _next_version(connection: Connection, here: int, name: str) -> int:
    same = (model_names.c.workspace == here) & (model_names.c.name == name)
    last = connection.scalar(select(model_names.c.last_version).where(same))
    if last is None:
        connection.execute(insert(model_names).values(workspace=here, name=name, last_version=1))
        return 1
    connection.execute(update(model_names).where(same).values(last_version=last + 1))
    return int(last) + 1


def _of(here: int) -> Select[Any]:
    return select(models).where(models.c.workspace == here)


def _columns(details: Details) -> dict[str, Any]:
    values = dict(vars(details))
    values["sample_input"] = values.pop("sample_input_dataset")
    values["sample_output"] = values.pop("sample_output_dataset")
    return values


def _model(connection: Connection, workspace: str, row: Row[Any], uses: Mapping[int, list[str]] | None = None) -> Model:
    if uses is None:
        uses = _services(connection, [row.serial])
    details = Details(
        framework=row.framework,
        framework_version=row.framework_version,
        resource_configuration=row.resource_configuration,
        tags=row.tags,
        properties=row.properties,
        description=row.description,
        datasets=row.datasets,
        sample_input_dataset=row.sample_input,
        sample_output_dataset=row.sample_output,
        created_by=row.created_by,
    )
    content = Content(row.tree, row.root, bool(row.unpack), row.size, row.files)
    return Model(
        serial=row.serial,
        workspace=workspace,
        name=row.name,
        version=row.version,
        content=content,
        details=details,
        run_id=row.run_id,
        experiment=row.experiment,
        created_at=row.created_at,
        services=uses.get(row.serial, []),
    )


def _services(connection: Connection, serials: Sequence[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    query = select(model_uses.c.model, model_uses.c.service).where(model_uses.c.model.in_(serials))
    for serial, service in connection.execute(query.order_by(model_uses.c.service)):
        found.setdefault(serial, []).append(service)
    return found


def _fits(row: Row[Any], wanted: ModelFilter) -> bool:
    if wanted.dataset is not None and all(each["id"] != wanted.dataset for each in row.datasets):
        return False
    return _has(row.tags, wanted.tags) and _has(row.properties, wanted.properties)


def _has(labels: Mapping[str, str], wanted: Iterable[Label]) -> bool:
    return all(key in labels and value in (None, labels[key]) for key, value in wanted)


def _with_properties(model: Model, added: Mapping[str, str]) -> dict[str, str]:
    before = model.details.properties
    for key, value in added.items():
        if before.get(key, value) != value:
            raise Conflict(
                "property_fixed",
                f"The model {model.id!r} has the property {names.shown(key)} already, with another value.",
                "Properties stay as they were set. Use a tag for what changes.",
                {"property": key[:LONGEST_KEY]},
            )
    return {**before, **added}


def _check(connection: Connection, workspace: str, details: Details) -> None:
    texts = (("framework", details.framework), ("framework version", details.framework_version))
    for what, text in texts:
        if text is not None and not 0 < len(text) <= LONGEST_KEY:
            raise Refused("bad_model", f"The {what} of a model has 1 to {LONGEST_KEY} characters, not {len(text):,}.")
    if details.description is not None and len(details.description) > LONGEST_TEXT:
        raise Refused("bad_model", f"A description has at most {LONGEST_TEXT:,} characters.")
    for kind, labels in (("tags", details.tags), ("properties", details.properties)):
        if len(labels) > MOST_LABELS:
            raise Refused("bad_model", f"A model has at most {MOST_LABELS} {kind}, not {len(labels):,}.")
        if any(not 0 < len(key) <= LONGEST_KEY or len(text) > LONGEST_TEXT for key, text in labels.items()):
            raise Refused(
                "bad_model",
                f"{kind.capitalize()} have keys of 1 to {LONGEST_KEY} characters and values of up to {LONGEST_TEXT:,}.",
            )
    if len(details.datasets) > MOST_DATASETS:
        raise Refused("bad_model", f"A model names at most {MOST_DATASETS} datasets, not {len(details.datasets):,}.")
    for id in _dataset_ids(details):
        datasets.get(connection, workspace, id)  # refused when there is none


def _dataset_ids(details: Details) -> Iterator[str]:
    yield from {each["id"] for each in details.datasets}
    for id in (details.sample_input_dataset, details.sample_output_dataset):
        if id is not None:
            yield id


def _not_found(connection: Connection, workspace: str, here: int, name: str, version: int | None) -> NotFound:
    query = select(models.c.name, func.max(models.c.version)).where(models.c.workspace == here).group_by(models.c.name)
    last: dict[str, int] = {row[0]: row[1] for row in connection.execute(query)}
    if name in last:
        return NotFound(
            "model_not_found",
            f"The model {name!r} has no version {version} in the workspace {workspace!r}.",
            f"Its latest one is {last[name]}.",
            {"name": name, "latest": last[name]},
        )
    near = difflib.get_close_matches(name[:LONGEST_KEY], sorted(last), 3)
    help = f"There is {', '.join(map(repr, near))}." if near else "`runyard models ls` lists those there are."
    title = f"There is no model {names.shown(name)} in the workspace {workspace!r}."
    return NotFound("model_not_found", title, help, {"name": name[:LONGEST_KEY]})
