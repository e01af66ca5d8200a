"""What a run is told of its inputs when a mount was lost, and that inputs let go of everything."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from runyard.client.data.cache import Cache
from runyard.client.data.mounts import Mounted
from runyard.contracts.plan import Launch
from runyard.node.prepare.data import Inputs


class Mount:
    def __init__(self, pid: int, lives: bool) -> None:
        self.pid, self.lives, self.ended = pid, lives, False

    def end(self) -> None:
        self.ended = True


def test_a_lost_mount_is_named_in_the_error_and_all_are_ended(tmp_path: Path) -> None:
    mounts = {"kept": Mount(3, True), "lost": Mount(4, False)}
    lease = Cache(tmp_path / "cache").lease()
    inputs = Inputs(Launch(script="x.py"), lease, cast("dict[str, Mounted]", mounts))
    error: dict[str, Any] = {"code": "ScriptFailed", "message": "It failed."}
    assert inputs.told(error)["message"].endswith(
        "The mount of the input 'lost' (process 4) was lost before: its process ended."
    )
    assert inputs.processes == {3, 4}
    inputs.end()
    assert all(each.ended for each in mounts.values())
    assert not list((tmp_path / "cache" / "leases").iterdir())
    assert Inputs(Launch(script="x.py"), lease, {}).told(error) == error
