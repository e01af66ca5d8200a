"""The Ray engine: gangs of node runners in a Ray cluster that is there already, and that scales itself.

One driver process serves one cluster, for all runs together (`connection`); what runs in the cluster is led there
(`keeper`). So the server can be killed, and the driver, and even the connection: the gangs go on and are found again.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runyard.contracts import vm_sizes
from runyard.contracts.compute import IDLE, LEAVING, RUNNING, Node, Resources, Target
from runyard.engines.base import Engine, EngineAway, EngineError, EngineEvents, Finding, Gang, Handle, Offer
from runyard.engines.folders import RunFolders
from runyard.engines.hand_over import hand_over
from runyard.engines.ray import diagnosis
from runyard.engines.ray.connection import Connection
from runyard.engines.ray.line import Line
from runyard.engines.ray.request import Address, Seen, able, amounts, bundle_of, inventory, wish

PATIENCE = 60.0
"""Seconds that the node runners of a gang get to notice that one of them is lost, before they are asked to end."""


@dataclass
class Watched:
    """A gang whose events somebody wants."""

    run_id: str
    handle: Handle
    events: EngineEvents
    line: Line | None = None  # the one on which it was started or found; on another one it must be found again
    starting: bool = False
    stop: bool = False  # the keeper must be asked to stop it
    reason: str = ""
    placed: bool = False
    nodes: list[str] = field(default_factory=list)


class RayEngine(Engine):
    def __init__(self, folders: RunFolders, home: Path, options: dict[str, Any]) -> None:
        self._folders = folders
        self._python = str(options.get("python") or "python3")
        self._resources = {str(name): float(amount) for name, amount in (options.get("resources") or {}).items()}
        self._grows = bool(options.get("autoscaling"))
        self._connection = Connection(
            Address.parse(str(options.get("address") or "")),
            namespace=str(options.get("namespace") or "runyard"),
            python=os.path.expanduser(str(options.get("ray_python") or sys.executable)),
            token_file=str(options.get("token_file") or ""),
            on_event=self._on_event,
        )
        self._lock = threading.Lock()
        self._watched: dict[tuple[str, str], Watched] = {}
        self._unwanted: list[Handle] = []  # to be stopped, should they be there: nobody waits for them
        self._ended: list[Handle] = []  # their keepers may forget them
        self._work = threading.Event()
        self._news: queue.Queue[Callable[[], None]] = queue.Queue()
        self._threads = False
        self._closed = False

    def check(self, target: Target) -> None:
        bundle = bundle_of(vm_sizes.resources(target.vm_size), self._resources)
        nodes = self._nodes(again=True)
        if not self._grows and not able(nodes, bundle):
            raise EngineError(
                f"No node of the Ray cluster at {self._connection.address} has {amounts(bundle)}. {inventory(nodes)} "
                "Ask for less, add such a node, or set autoscaling if the cluster adds nodes by itself."
            )

    def offer(self) -> Offer:
        nodes = able(self._nodes(), bundle_of(Resources(), self._resources))
        with self._lock:
            runs = {node: watched.run_id for watched in self._watched.values() for node in watched.nodes}
        seen = []
        for node in nodes:
            used = node["id"] in runs or node["free"].get("CPU", 0) < node["has"]["CPU"]
            state = LEAVING if node["leaving"] else RUNNING if used else IDLE
            seen.append(Node(node["name"], state, runs.get(node["id"]), node["address"]))
        return Offer(seen, None if self._grows else sum(node.state != LEAVING for node in seen))

    def start(self, gang: Gang, events: EngineEvents) -> Handle:
        line = self._connection.line()
        parcel = hand_over(gang, self._folders)
        bundle = bundle_of(gang.resources, self._resources)
        spec = {
            "nodes": len(gang.plans),
            "bundle": bundle,
            "wish": wish(len(gang.plans), bundle),
            "grows": self._grows,
            "python": self._python,
            "arguments": parcel.arguments,
            "environment": parcel.environment,
            "patience": PATIENCE,
        }
        handle = _handle(line, gang)
        watched = Watched(gang.run_id, handle, events, line, starting=True)
        self._add(watched)  # before the request: the first event may be faster than the answer
        try:
            line.ask("start", gang=handle["gang"], spec=spec)
        except EngineAway as error:  # the keeper may have got it or not
            with self._lock:
                self._watched.pop(_key(handle), None)
            raise self._connection.explained(error) from error
        watched.starting = False
        return handle

    def promise(self, gang: Gang) -> Handle:
        return _handle(self._connection.line(), gang)

    def find(self, run_id: str, promise: Handle, events: EngineEvents) -> Handle | None:
        line, watched, found = self._connection.line(), Watched(run_id, promise, events), False
        self._add(watched)  # before the request: the first event may be faster than the answer
        try:
            found = self._find(line, watched)
        except EngineAway as error:
            raise self._connection.explained(error) from error
        finally:
            if not found:
                with self._lock:
                    self._watched.pop(_key(promise), None)
        return promise if found else None

    def watch(self, run_id: str, handle: Handle, events: EngineEvents) -> bool:
        try:
            return self.find(run_id, handle, events) is not None
        except EngineError:
            self._add(Watched(run_id, handle, events))  # the tender asks again
            return True

    def stop(self, run_id: str, handle: Handle) -> None:
        with self._lock:
            watched = self._watched.get(_key(handle))
            if watched is None:
                self._unwanted.append(handle)
            else:
                watched.stop = True
        self._tend()

    def close(self) -> None:
        self._closed = True
        self._connection.close()
        self._work.set()
        self._news.put(lambda: None)

    @classmethod
    def diagnose(cls, targets: Sequence[Target]) -> Iterator[Finding]:
        return diagnosis.diagnose(targets)

    def _nodes(self, again: bool = False) -> list[Seen]:
        line = self._connection.line(again)
        try:
            nodes: list[Seen] = line.ask("nodes")
        except EngineAway as error:
            raise self._connection.explained(error) from error
        return nodes

    def _add(self, watched: Watched) -> None:
        with self._lock:
            self._watched[_key(watched.handle)] = watched
        self._tend()

    def _tend(self) -> None:
        """Wake the threads that look after gangs; the first time, start them."""
        with self._lock:
            if not self._threads:
                self._threads = True
                threading.Thread(target=self._tender, name="ray-tender", daemon=True).start()
                threading.Thread(target=self._pass_on_events, name="ray-events", daemon=True).start()
        self._work.set()

    def _tender(self) -> None:
        """Deliver pending requests to the keepers, and find the gangs again on each new line."""
        while not self._closed:
            self._work.wait(1.0)
            self._work.clear()
            with self._lock:
                needed = bool(self._watched or self._unwanted or self._ended)
            if not needed:
                self._connection.rest()
                continue
            try:
                line = self._connection.line()
            except EngineError as error:
                self._report_away(error)
                self._work.wait(1.0)
                continue
            with contextlib.suppress(EngineAway):  # it went away in this moment: the next round reports it
                self._catch_up(line)

    def _catch_up(self, line: Line) -> None:
        with self._lock:
            strange = [one for one in self._watched.values() if one.line is not line and not one.starting]
        for watched in strange:
            if not self._find(line, watched):
                self._gone(watched, "the Ray cluster does not know it any more: its head was started anew", taken=True)
        with self._lock:
            stops = [one for one in self._watched.values() if one.stop]
        for watched in stops:
            line.ask("stop", **watched.handle)
            watched.stop = False
        for handles, do in ((self._unwanted, "stop"), (self._ended, "forget")):
            while handles:
                line.ask(do, **handles[0])
                del handles[0]

    def _find(self, line: Line, watched: Watched) -> bool:
        found = line.ask("find", **watched.handle)
        if found is None:
            return False
        watched.line = line
        self._take(watched, found)
        return True

    def _on_event(self, line: Line, event: dict[str, Any]) -> None:
        """An event of the driver. This is the thread that reads its answers, so nothing may be requested here."""
        if event["event"] == "gangs":
            for gang in event["gangs"]:
                with self._lock:
                    watched = self._watched.get((event["keeper"], gang["name"]))
                if watched is not None:
                    self._take(watched, gang)
        elif event["event"] == "lost":
            with self._lock:
                lost = [one for one in self._watched.values() if one.handle["keeper"] == event["keeper"]]
            for watched in lost:
                self._gone(watched, f"Ray lost it ({event['why']})", taken=True)
            if event["keeper"] == line.keeper:
                line.end()  # the next driver makes another keeper
        self._work.set()

    def _take(self, watched: Watched, gang: dict[str, Any]) -> None:
        """Pass on what is new about a gang."""
        run_id, events = watched.run_id, watched.events
        if gang["state"] == "waits" and gang["reason"] and gang["reason"] != watched.reason:
            watched.reason = gang["reason"]
            self._news.put(lambda: events.waits(run_id, gang["reason"]))
        elif gang["state"] == "placed" and not watched.placed:
            watched.placed, watched.nodes = True, gang["nodes"]
            self._news.put(lambda: events.placed(run_id))
        elif gang["state"] == "ended":
            self._gone(watched, gang["how"], gang["taken"])

    def _gone(self, watched: Watched, how: str, taken: bool) -> None:
        with self._lock:
            if self._watched.pop(_key(watched.handle), None) is None:
                return  # it was reported already
            self._ended.append(watched.handle)
        self._news.put(lambda: watched.events.gone(watched.run_id, how, taken))

    def _report_away(self, error: EngineError) -> None:
        with self._lock:
            waiting = [one for one in self._watched.values() if not one.placed and one.reason != str(error)]
        for watched in waiting:
            self._take(watched, {"state": "waits", "reason": str(error)})
            watched.line = None  # found again, it reports again why it waits

    def _pass_on_events(self) -> None:
        """Passes events on, in a thread of its own: their receiver may call the engine in turn."""
        while not self._closed:
            self._news.get()()


def _handle(line: Line, gang: Gang) -> Handle:
    return {"keeper": line.keeper, "gang": f"{gang.run_id}.{gang.plans[0].attempt}"}


def _key(handle: Handle) -> tuple[str, str]:
    return str(handle["keeper"]), str(handle["gang"])
