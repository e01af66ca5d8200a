"""If these fail, a workspace relaxes pins that it should not, or keeps more environments than its disk can hold."""

from __future__ import annotations

from datetime import timedelta

import pytest

from runyard.store.content import deletion
from runyard.store.errors import NotFound, Refused
from runyard.store.runs import workspace_settings, workspaces
from runyard.store.runs.workspace_settings import (
    DATA_LIMIT,
    DATA_MAP,
    DATASTORE,
    EVENT_FILES,
    HOROVOD,
    KEEP_LOGS,
    KEEP_SERIES,
    LAZY_ABOVE,
    LIMIT,
    RELAX,
    SCOPE,
    SYSTEM_METRICS,
)
from runyard.store.store import Store


def put(store: Store, key: str, value: str) -> dict[str, str]:
    with store.database.write() as connection:
        workspace_settings.put(connection, "local", key, value)
        return workspace_settings.find(connection, "local")


def test_every_key_has_a_value_before_it_is_set(store: Store) -> None:
    with store.database.read() as connection:
        settings = workspace_settings.find(connection, "local")
    stays = {DATA_LIMIT: "50GB", LAZY_ABOVE: "10GB", DATA_MAP: "{}", KEEP_LOGS: "none", KEEP_SERIES: "none"}
    stays[DATASTORE] = "workspaceblobstore"
    stays.update({HOROVOD: "layer", EVENT_FILES: "true", SYSTEM_METRICS: "true"})
    assert settings == {RELAX: "false", LIMIT: "none", SCOPE: "workspace", **stays}
    assert workspace_settings.whole_workspace(settings)
    assert not workspace_settings.relax(settings)
    assert workspace_settings.limit(settings) is None


def test_a_workspace_may_insist_on_horovod_itself(store: Store) -> None:
    assert not workspace_settings.real_horovod(put(store, HOROVOD, "layer"))
    assert workspace_settings.real_horovod(put(store, HOROVOD, " Require "))
    with pytest.raises(Refused, match="layer or require"):
        put(store, HOROVOD, "build")


@pytest.mark.parametrize(("text", "days"), [("90d", 90), (" 2 W ", 14), ("48h", 2), ("None", None), ("0d", 0)])
def test_an_age_is_a_number_with_a_unit_or_none(store: Store, text: str, days: int | None) -> None:
    age = workspace_settings.age(put(store, KEEP_LOGS, text)[KEEP_LOGS])
    assert age == (None if days is None else timedelta(days=days))


@pytest.mark.parametrize("text", ["90", "d", "-3d", "1.5d", "3 months", "", "٣d"])
def test_what_is_no_age_is_refused(store: Store, text: str) -> None:
    with pytest.raises(Refused, match=r"retention\.series"):
        put(store, KEEP_SERIES, text)


def test_a_setting_is_changed_and_set_back(store: Store) -> None:
    assert workspace_settings.relax(put(store, RELAX, " True "))
    assert put(store, RELAX, "false")[RELAX] == "false"
    put(store, RELAX, "true")
    with store.database.write() as connection:
        workspace_settings.remove(connection, "local", RELAX)
        assert workspace_settings.find(connection, "local")[RELAX] == "false"


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("50GB", 50 * 10**9),
        ("50 gb", 50 * 10**9),
        ("1.5GiB", 3 * 2**29),
        ("2T", 2 * 10**12),
        ("1000", 1000),
        ("None", None),
    ],
)
def test_a_limit_is_a_size(store: Store, text: str, size: int | None) -> None:
    assert workspace_settings.limit(put(store, LIMIT, text)) == size


@pytest.mark.parametrize(
    ("key", "value"),
    [(RELAX, "yes"), (RELAX, ""), (LIMIT, "much"), (LIMIT, "-1GB"), (LIMIT, "0"), (LIMIT, "1e9"), (LIMIT, "50XB")],
)
def test_a_value_that_a_key_does_not_take_is_refused_with_what_it_takes(store: Store, key: str, value: str) -> None:
    with pytest.raises(Refused, match=r"It takes (true or false|a size)") as caught:
        put(store, key, value)
    assert caught.value.code == "bad_setting"


def test_an_unknown_key_is_refused_with_the_known_ones(store: Store) -> None:
    with pytest.raises(Refused, match=r"environments\.relax, environments\.limit"):
        put(store, "environments.relaxed", "true")


def test_settings_belong_to_a_workspace_and_go_with_it(store: Store) -> None:
    with store.database.write() as connection:
        workspaces.create(connection, "other", "s", "g")
        workspace_settings.put(connection, "other", RELAX, "true")
        assert not workspace_settings.relax(workspace_settings.find(connection, "local"))
    deletion.delete_workspace(store, "other")
    with store.database.write() as connection:
        workspaces.create(connection, "other", "s", "g")
        assert not workspace_settings.relax(workspace_settings.find(connection, "other"))
        with pytest.raises(NotFound):
            workspace_settings.find(connection, "nowhere")
