"""Leads the gangs of one server in a Ray cluster: a detached actor on the head, and the tasks that it owns.

This runs inside the cluster, with nothing of Runyard around it: the driver sends it there by value, with `node_task`
and `reasons`. A gang is a placement group and one task in each of its bundles. The task starts the node runner and
waits for it.

Why tasks, and not an actor for each node: a new worker process costs more than a second of CPU, an actor always needs
one, and a task takes over the idle one that the last task has left. Why an actor owns them: a task dies with its owner,
so one that a server or its driver owned would die with those; the actor is found again by its name. It asks for no CPU.
Idle workers live only as long as the driver that made the actor, so each driver makes a keeper of its own. A keeper
whose driver has ended leads its gangs to their end, and ends when nobody has called it for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import ray
from ray.util.placement_group import placement_group, placement_group_table, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

if TYPE_CHECKING:
    from runyard.engines.ray.internals import Internals
    from runyard.engines.ray.node_task import run_node, signal_name
    from runyard.engines.ray.reasons import first_line, why_it_waits
else:  # the driver has the folder of this file on its path, and may have no Runyard
    from node_task import run_node, signal_name
    from reasons import first_line, why_it_waits

WAITS, PLACED, ENDED = "waits", "placed", "ended"

AT_ONCE, AT_ONCE_TO_GROW = 8, 64
"""Groups that are requested at the same time. An autoscaler grows by what it sees, so it is shown more."""

OVERTAKEN = 16
"""So many later gangs may find room before the one that waits longest. Then the others wait for it."""

NOTICE = 60.0
"""A node that is drained goes at a deadline. So many seconds before it the gangs there are asked to end, at most."""

POLL, LONGEST_PAUSE = 2.0, 60.0
UNVISITED, UNVISITED_WITH_NEWS = 60.0, 3600.0  # after that a keeper with no gang alive ends
MOST_ENDED = 5000  # ended gangs that are remembered when nobody asks to forget them


@dataclass
class Gang:
    name: str
    spec: dict[str, Any]
    number: int
    state: str = WAITS
    reason: str = ""
    nodes: list[str] = field(default_factory=list)
    how: str = ""
    taken: bool = False
    version: int = 0
    overtaken: int = 0
    stopped: bool = False
    leaving: str = ""  # which of its nodes is about to be taken away, once it was asked to end for that
    turn: asyncio.Event = field(default_factory=asyncio.Event)  # it may ask for its group, or need not any more
    group: Any = None
    tasks: list[Any] = field(default_factory=list)
    leader: Any = None  # the asyncio task that leads it; without a reference it would be collected

    def as_dict(self) -> dict[str, Any]:
        names = ("name", "state", "reason", "nodes", "how", "taken")
        return {name: getattr(self, name) for name in names}


class Keeper:
    """The actor. Its methods are called by drivers: the one that made it, and those after it."""

    def __init__(self, tether: str, internals: Internals) -> None:
        self._tether, self._internals = tether, internals
        self._gangs: dict[str, Gang] = {}
        self._numbers = itertools.count(1)
        self._version = 0
        self._changed = asyncio.Condition()
        self._threads = ThreadPoolExecutor(AT_ONCE_TO_GROW + 4)  # each waits in a call to Ray that blocks
        self._visited = time.monotonic()
        self._nodes: tuple[float, list[dict[str, Any]]] = (-POLL, [])
        self._hopeless: tuple[float, set[str]] = (-POLL, set())
        self._looking = asyncio.Lock()
        self._releasing: set[asyncio.Task[None]] = set()  # without a reference they would be collected
        self._ending = asyncio.ensure_future(self._end_when_unused())
        self._leaving = asyncio.ensure_future(self._end_before_nodes_go())
        self._run = ray.remote(run_node)

    async def start(self, name: str, spec: dict[str, Any]) -> None:
        """Take a gang in. One of that name that is there already is the same one: the driver has asked twice."""
        self._visited = time.monotonic()
        if name not in self._gangs:
            gang = self._gangs[name] = Gang(name, spec, next(self._numbers))
            gang.leader = asyncio.ensure_future(self._lead(gang))
            self._call_up()

    async def stop(self, name: str) -> None:
        """Ask the node runners of a gang to end, or take it out of the queue."""
        gang = self._gangs.get(name)
        if gang is None or gang.state == ENDED:
            return
        gang.stopped = True
        gang.turn.set()
        self._cancel(gang)
        if gang.state == WAITS:
            await self._release(gang)

    async def forget(self, name: str) -> None:
        """Nobody will ask for this gang again, if it has ended."""
        if name in self._gangs and self._gangs[name].state == ENDED:
            del self._gangs[name]

    async def find(self, name: str) -> dict[str, Any] | None:
        gang = self._gangs.get(name)
        return gang.as_dict() if gang else None

    async def changes(self, since: int, timeout: float) -> tuple[int, list[dict[str, Any]]]:
        """What has changed after that version, as soon as something has, or nothing when the time is over."""
        self._visited = time.monotonic()
        with contextlib.suppress(asyncio.TimeoutError):
            async with self._changed:
                await asyncio.wait_for(self._changed.wait_for(lambda: self._version > since), timeout)
        changed = sorted((gang for gang in self._gangs.values() if gang.version > since), key=lambda one: one.version)
        return self._version, [gang.as_dict() for gang in changed]

    async def cluster(self) -> list[dict[str, Any]]:
        """The nodes that are alive, and what each has and has free."""
        self._visited = time.monotonic()
        return await self._seen()

    async def _lead(self, gang: Gang) -> None:
        """Lead a gang from the queue to its end."""
        try:
            await self._place(gang)
            if gang.state == PLACED:
                await self._follow(gang)
        except Exception as error:  # noqa: BLE001 - whatever it was, the gang has an end, and a reason
            gang.how, gang.taken = f"Ray could not run it: {first_line(error)}", True
        finally:
            if gang.stopped and gang.state == WAITS:
                gang.how, gang.taken = "it was taken out of the queue", False
            self._cancel(gang)
            await self._release(gang)
            await self._enter(gang, ENDED)
            self._drop_the_oldest()

    async def _place(self, gang: Gang) -> None:
        spec = gang.spec
        while not await happens(gang.turn, POLL):
            await self._explain(gang)
        if not gang.stopped:
            bundles = [dict(spec["bundle"]) for _ in range(spec["nodes"])]
            gang.group = await self._in_thread(placement_group, bundles, "STRICT_SPREAD", gang.name)
        first = True
        while not gang.stopped:
            # The first look is short: a gang that finds room at once is never reported as waiting.
            if await self._in_thread(gang.group.wait, 1 if first else POLL):
                break
            first = False
            await self._explain(gang)
        if gang.stopped:
            return
        for other in self._gangs.values():
            if other.state == WAITS and other.group is not None and other.number < gang.number:
                other.overtaken += 1
        table = await self._in_thread(placement_group_table, gang.group)
        where = table["bundles_to_node_id"]
        gang.nodes = [where[index] for index in sorted(where)]
        await self._enter(gang, PLACED)

    def _call_up(self) -> None:
        """Let those whose turn it is ask Ray for their group: few at once, in order, and none is left behind."""
        waiting = sorted((one for one in self._gangs.values() if one.state == WAITS), key=lambda one: one.number)
        if any(one.overtaken >= OVERTAKEN for one in waiting):
            waiting = waiting[:1]
        for place, gang in enumerate(waiting):
            if place < (AT_ONCE_TO_GROW if gang.spec["grows"] else AT_ONCE):
                gang.turn.set()

    async def _follow(self, gang: Gang) -> None:
        """Have a node runner started in each bundle, and wait until none of them is alive."""
        spec = gang.spec
        for index in range(spec["nodes"]):
            options = {
                "num_cpus": spec["bundle"].get("CPU", 0),
                "num_gpus": spec["bundle"].get("GPU", 0),
                "max_retries": 0,
                "name": f"{gang.name} node {index}",
                "scheduling_strategy": PlacementGroupSchedulingStrategy(gang.group, index),
            }
            command = [spec["python"], *spec["arguments"], str(index)]
            gang.tasks.append(self._run.options(**options).remote(self._tether, command, spec["environment"]))
        if gang.stopped or gang.leaving:  # between the placing and this moment
            self._cancel(gang)
        pending = {asyncio.ensure_future(exit_of(task)): index for index, task in enumerate(gang.tasks)}
        exits: dict[int, Exit] = {}
        lost_at = None
        while pending:
            patience = None if lost_at is None else max(0.1, lost_at + spec["patience"] - time.monotonic())
            done, _ = await asyncio.wait(pending, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            if not done:  # the rest of the gang has not noticed that it is incomplete
                self._cancel(gang)
            for one in done:
                exits[pending.pop(one)] = one.result()
            if lost_at is None and any(one.lost for one in exits.values()):
                lost_at = time.monotonic()
        self._conclude(gang, [exits[index] for index in sorted(exits)])

    def _conclude(self, gang: Gang, exits: list[Exit]) -> None:
        """How the gang ended: the first loss, or the first bad end, that of node 0 before others."""
        bad = [(index, one) for index, one in enumerate(exits) if not one.good]
        lost = [(index, one) for index, one in bad if one.lost]
        index, one = (lost or bad or [(0, exits[0])])[0]
        where = f"node {index}: " if len(exits) > 1 and not one.good else ""
        gang.how = gang.leaving or where + one.how
        gang.taken = bool(gang.leaving or (lost and one.taken)) and not gang.stopped

    def _cancel(self, gang: Gang) -> None:
        for task in gang.tasks:
            with contextlib.suppress(ray.exceptions.RayError, ValueError):
                ray.cancel(task)

    async def _release(self, gang: Gang) -> None:
        """Give the nodes of a gang back. Should Ray fail at that, it is tried again, and the gang ends all the same."""
        if gang.group is not None and not await self._removed(gang):
            again = asyncio.ensure_future(self._release_later(gang))
            self._releasing.add(again)
            again.add_done_callback(self._releasing.discard)

    async def _release_later(self, gang: Gang) -> None:
        pause = POLL
        while not await self._removed(gang):
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _removed(self, gang: Gang) -> bool:
        try:
            await self._in_thread(remove_placement_group, gang.group)
            return True
        except Exception as error:  # noqa: BLE001 - it raises many kinds
            print(f"the nodes of {gang.name} could not be given back: {first_line(error)}", flush=True)  # in Ray's log
            return False

    async def _end_before_nodes_go(self) -> None:
        """Ask gangs to end while there is time to save and deliver. Ray itself lets them run until the node is gone."""
        while True:
            await asyncio.sleep(POLL)
            placed = [gang for gang in self._gangs.values() if gang.state == PLACED and not gang.leaving]
            if not placed:
                continue
            deadlines = await self._ask(self._internals.draining, otherwise={})
            for gang in placed:
                going = [index for index, node in enumerate(gang.nodes) if goes_soon(deadlines.get(node, 0))]
                if going:
                    gang.leaving = f"node {going[0]}: the cluster drains its node"
                    self._cancel(gang)

    async def _explain(self, gang: Gang) -> None:
        nodes = await self._seen()
        holders = sum(one.state == PLACED for one in self._gangs.values())
        before = sum(one.state == WAITS and one.number < gang.number for one in self._gangs.values())
        hopeless = gang.spec["grows"] and gang.group is not None and gang.group.id.hex() in await self._refused()
        reason = why_it_waits(gang.spec, nodes, holders, before, hopeless)
        if gang.state == WAITS and reason != gang.reason:
            gang.reason = reason
            await self._enter(gang, WAITS)

    async def _seen(self) -> list[dict[str, Any]]:
        """The nodes as they were seconds ago: however many gangs wait, Ray is asked once."""
        async with self._looking:
            seen_at, nodes = self._nodes
            if time.monotonic() - seen_at >= POLL:
                nodes = await self._in_thread(self._internals.nodes)
                self._nodes = (time.monotonic(), nodes)
        return nodes

    async def _refused(self) -> set[str]:
        """The groups for which the autoscaler cannot grow, as of seconds ago."""
        async with self._looking:
            seen_at, refused = self._hopeless
            if time.monotonic() - seen_at >= POLL:
                refused = await self._ask(self._internals.refused, otherwise=set())
                self._hopeless = (time.monotonic(), refused)
        return refused

    async def _enter(self, gang: Gang, state: str) -> None:
        async with self._changed:
            self._version += 1
            gang.state, gang.version = state, self._version
            self._changed.notify_all()
        self._call_up()

    async def _ask(self, function: Any, otherwise: Any) -> Any:
        """Something that is good to know of Ray. No gang ends because Ray did not know: it is asked again soon."""
        try:
            return await self._in_thread(function)
        except Exception:  # noqa: BLE001 - it raises many kinds
            return otherwise

    async def _in_thread(self, function: Any, *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    def _drop_the_oldest(self) -> None:
        ended = [name for name, gang in self._gangs.items() if gang.state == ENDED]
        for name in ended[: max(0, len(ended) - MOST_ENDED)]:
            del self._gangs[name]

    async def _end_when_unused(self) -> None:
        while any(gang.state != ENDED for gang in self._gangs.values()) or time.monotonic() < self._visited + (
            UNVISITED_WITH_NEWS if self._gangs else UNVISITED
        ):
            await asyncio.sleep(5)
        ray.kill(ray.get_runtime_context().current_actor)


async def happens(event: asyncio.Event, within: float) -> bool:
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(event.wait(), within)
    return event.is_set()


@dataclass(frozen=True)
class Exit:
    """How a node runner ended. `lost`: Ray lost it. `taken`: and it may well go better another time."""

    how: str
    good: bool = False
    lost: bool = False
    taken: bool = False


async def exit_of(task: Any) -> Exit:
    try:
        code, output = await task
    except ray.exceptions.TaskCancelledError:
        return Exit("it was stopped", good=True)
    except ray.exceptions.OutOfMemoryError:
        return Exit("Ray ended it because its node was out of memory. Ask for more memory.", lost=True)
    except ray.exceptions.NodeDiedError as error:
        return Exit(f"its node is gone ({first_line(error)})", lost=True, taken=True)
    except ray.exceptions.RayError as error:
        return Exit(f"Ray lost it ({first_line(error)})", lost=True, taken=True)
    if code < 0:
        return Exit(f"killed by {signal_name(-code)}")
    return Exit(f"exit code {code}" + (f": {output}" if code and output else ""), good=code == 0)


def goes_soon(deadline: int) -> bool:
    return deadline > 0 and deadline / 1000 - time.time() < NOTICE
