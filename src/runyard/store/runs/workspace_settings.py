"""The settings of a workspace: a few known keys, each with the values that it takes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Connection, bindparam, delete, insert, select

from runyard.contracts.data import address_map, datastores
from runyard.contracts.journal import EVENTS, SOURCES, SYSTEM
from runyard.store.errors import Refused
from runyard.store.prepared import Prepared
from runyard.store.runs import workspaces
from runyard.store.tables import workspace_settings
from runyard.store.tables import workspaces as workspace_rows

RELAX, LIMIT, SCOPE = "environments.relax", "environments.limit", "runs.scope"
HOROVOD = "environments.horovod"
DATA_MAP, DATA_LIMIT, LAZY_ABOVE = "data.map", "data.limit", "data.lazy-above"
DATASTORE = "data.datastore"
SYSTEM_METRICS, EVENT_FILES = "runs.system-metrics", "runs.event-files"
KEEP_LOGS, KEEP_SERIES = "retention.logs", "retention.series"

_FIND = Prepared(
    select(workspace_settings.c.key, workspace_settings.c.value)
    .join(workspace_rows)
    .where(workspace_rows.c.name == bindparam("here"))
)

_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)\s*([kmgt]?)(i?)b?", re.IGNORECASE | re.ASCII)
_AGE = re.compile(r"(\d{1,6})([hdw])", re.IGNORECASE | re.ASCII)
_HOURS = {"h": 1, "d": 24, "w": 168}
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


@dataclass(frozen=True)
class Setting:
    """One key. `normal` returns a value as it is stored, and None for one that is not allowed."""

    default: str
    takes: str
    normal: Callable[[str], str | None]


def put(connection: Connection, workspace: str, key: str, value: str) -> None:
    normal = checked(key, value)
    remove(connection, workspace, key)
    here = workspaces.serial(connection, workspace)
    connection.execute(insert(workspace_settings).values(workspace=here, key=key, value=normal))


def remove(connection: Connection, workspace: str, key: str) -> None:
    """Go back to what holds when nobody has set the key."""
    _known(key)
    here = workspaces.serial(connection, workspace)
    connection.execute(
        delete(workspace_settings).where(workspace_settings.c.workspace == here, workspace_settings.c.key == key)
    )


def find(connection: Connection, workspace: str) -> dict[str, str]:
    """The value of every known key, whether it was set or not."""
    found = dict(_FIND.all(connection, {"here": workspace}))
    if not found:
        workspaces.serial(connection, workspace)  # refused when there is no such workspace
    return {key: found.get(key, setting.default) for key, setting in KNOWN.items()}


def relax(settings: Mapping[str, str]) -> bool:
    """Whether pins that cannot be had may be relaxed."""
    return settings[RELAX] == "true"


def real_horovod(settings: Mapping[str, str]) -> bool:
    """Whether no layer may stand in for Horovod."""
    return settings[HOROVOD] == "require"


def limit(settings: Mapping[str, str]) -> int | None:
    """The limit for built environments, in bytes; None for no limit."""
    return _bytes(settings[LIMIT])


def data_limit(settings: Mapping[str, str]) -> int | None:
    """The limit for data that was fetched, in bytes; None for no limit."""
    return _bytes(settings[DATA_LIMIT])


def lazy_above(settings: Mapping[str, str]) -> int | None:
    """The bytes to be fetched beyond which a dataset is mounted lazily; None for never."""
    return _bytes(settings[LAZY_ABOVE])


def whole_workspace(settings: Mapping[str, str]) -> bool:
    """Whether a run's token reaches the workspace, and not the run and its descendants alone."""
    return settings[SCOPE] == "workspace"


def observed(settings: Mapping[str, str]) -> list[str]:
    """What node runners observe of runs besides what these log (`runyard.contracts.journal.SOURCES`)."""
    kinds = {SYSTEM: SYSTEM_METRICS, EVENTS: EVENT_FILES}
    return [source for source in SOURCES if settings[kinds[source]] == "true"]


def mapped(settings: Mapping[str, str]) -> dict[str, str]:
    """The web addresses that are found elsewhere, by prefix."""
    return address_map.parse(settings[DATA_MAP])


def age(value: str) -> timedelta | None:
    """The age of a setting such as `90d`; None for `none`, and for what is no age.

    >>> age("90d"), age("12h"), age("none")
    (datetime.timedelta(days=90), datetime.timedelta(seconds=43200), None)
    """
    found = _AGE.fullmatch("".join(value.split()))
    return timedelta(hours=int(found[1]) * _HOURS[found[2].lower()]) if found else None


def checked(key: str, value: str) -> str:
    """A value as it is stored; refused when the key does not take it."""
    setting = _known(key)
    normal = setting.normal(value)
    if normal is None:
        raise Refused(
            "bad_setting", f"{value[:80]!r} is no value for {key}.", f"It takes {setting.takes}.", {"key": key}
        )
    return normal


def _known(key: str) -> Setting:
    if key not in KNOWN:
        raise Refused(
            "bad_setting",
            f"There is no setting {key[:80]!r}.",
            f"There is: {', '.join(KNOWN)}.",
            {"known": list(KNOWN)},
        )
    return KNOWN[key]


def _true_or_false(value: str) -> str | None:
    text = value.strip().lower()
    return text if text in ("true", "false") else None


def _workspace_or_run(value: str) -> str | None:
    text = value.strip().lower()
    return text if text in ("workspace", "run") else None


def _layer_or_require(value: str) -> str | None:
    text = value.strip().lower()
    return text if text in ("layer", "require") else None


def _size_or_none(value: str) -> str | None:
    text = "".join(value.split())
    if text.lower() == "none":
        return "none"
    return text if _bytes(text) else None


def _age_or_none(value: str) -> str | None:
    text = "".join(value.split()).lower()
    return text if text == "none" or age(text) is not None else None


def _map(value: str) -> str | None:
    try:
        return json.dumps(address_map.parse(value))
    except address_map.BadMap:
        return None


def _datastore(value: str) -> str | None:
    try:
        return datastores.check_name(value.strip())
    except datastores.BadDatastore:
        return None


def _bytes(size: str) -> int | None:
    """
    >>> _bytes("50GB"), _bytes("1.5 GiB"), _bytes("none")
    (50000000000, 1610612736, None)
    """
    found = _SIZE.fullmatch(size.strip())
    if found is None:
        return None
    number, prefix, binary = found.groups()
    return int(float(number) * (1024 if binary else 1000) ** _POWERS[prefix.lower()])


KNOWN = {
    RELAX: Setting("false", "true or false", _true_or_false),
    LIMIT: Setting("none", "a size such as 50GB, or none", _size_or_none),
    HOROVOD: Setting("layer", "layer or require", _layer_or_require),
    SCOPE: Setting("workspace", "workspace or run", _workspace_or_run),
    DATA_LIMIT: Setting("50GB", "a size such as 50GB, or none", _size_or_none),
    LAZY_ABOVE: Setting("10GB", "a size such as 10GB, or none", _size_or_none),
    DATA_MAP: Setting("{}", 'a JSON object such as {"http://gone.org/": "/data/mirror"}', _map),
    DATASTORE: Setting(datastores.BLOB_STORE, "the name of a datastore", _datastore),
    SYSTEM_METRICS: Setting("true", "true or false", _true_or_false),
    EVENT_FILES: Setting("true", "true or false", _true_or_false),
    KEEP_LOGS: Setting("none", "an age such as 90d, 12h or 8w, or none", _age_or_none),
    KEEP_SERIES: Setting("none", "an age such as 90d, 12h or 8w, or none", _age_or_none),
}
