"""From a revision to a run: what a replica is told, and which files of a service hold what."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tests.scheduler.services.test_decision import revision, service, version

from runyard.contracts.services import states
from runyard.contracts.services.access import Access, hash_of
from runyard.contracts.services.plan import ServicePlan
from runyard.contracts.services.settings import Autoscale
from runyard.scheduler.services import replicas
from runyard.scheduler.services.decision import Start

LAUNCH = {"environment": {}, "interpreter": "python", "shell": {}, "container": {}, "notes": [], "entry_script": "s.py"}


def test_a_plain_replica_listens_where_the_service_does(tmp_path: Path) -> None:
    made = replicas.new_run(
        tmp_path, service(version(None, 1)), replace(revision(1), launch=LAUNCH), Start("", 1), 0, "t"
    )
    plan = ServicePlan.from_dict((made.launch or {})["service"])
    assert (plan.port, plan.listener) == (1, str(tmp_path / "services" / "id" / "listener"))
    assert (made.kind, made.target, plan.entry_script) == ("service", "local", "s.py")
    assert plan.user_token_hash == hash_of("t")


def test_one_behind_a_gateway_listens_apart_and_the_gateway_in_front(tmp_path: Path) -> None:
    scale = Autoscale(enabled=True, min=0)
    asleep, known = service(version(1, 1), autoscale=scale), replace(revision(1, autoscale=scale), launch=LAUNCH)
    worker = replicas.new_run(tmp_path, asleep, known, Start("", 1), 0, "")
    gateway = replicas.new_run(tmp_path, asleep, known, Start("", 1, states.GATEWAY), 0, "")
    told = [ServicePlan.from_dict((each.launch or {})["service"]) for each in (worker, gateway)]
    assert [each.port for each in told] == [0, 1]
    assert told[0].listener != told[1].listener
    assert (gateway.snapshot_id, told[1].entry_script) == (None, None)


def test_keys_are_written_as_hashes_and_only_for_the_user(tmp_path: Path) -> None:
    keys = {"primary": "a", "secondary": "b", "signing": "c"}
    locked = replace(service(version(1, 1), authentication="key"), keys=keys)
    replicas.write_access(tmp_path, locked, lambda name: f"value of {name}")
    path = tmp_path / "services" / "id" / "authentication.json"
    assert Access.read(path) == Access([hash_of("value of a"), hash_of("value of b")], "value of c")
    assert path.stat().st_mode & 0o077 == 0
    replicas.write_access(tmp_path, service(version(1, 1)), lambda name: "")
    assert Access.read(path) == Access()
    replicas.write_routes(tmp_path, locked, [])
    told = json.loads((path.parent / "routes.json").read_text())
    assert (told["routes"][0]["share"], told["authentication"]) == (100.0, "key")
    assert (told["allow_unauthenticated"], told["cors_origins"]) == (False, [])
    replicas.remove_folder(tmp_path, locked)
    assert not path.parent.exists()
