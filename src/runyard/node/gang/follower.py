"""Node k of a gang: gets ready, starts its processes when node 0 says so, and tells it how they end.

A follower that loses its leader ends its processes and delivers what they wrote. It never reports the run's end.
"""

from __future__ import annotations

import os
import queue
import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runyard.contracts.distribution import MPI
from runyard.contracts.plan import Plan
from runyard.node.delivery.retrying_client import Unwanted
from runyard.node.gang.crew import WITNESS, Crew, RankEnd
from runyard.node.gang.link import LOST, Link, LinkLost, Message, keep_beating, own_address
from runyard.node.gang.publish import find_leader
from runyard.node.launch.children import Child
from runyard.node.launch.meeting import Meeting
from runyard.node.log import say
from runyard.node.problem import RunProblem, Stopped
from runyard.node.signals import Signals
from runyard.node.state import ENDED

if TYPE_CHECKING:
    from runyard.node.delivery.run_delivery import Shipping

LOOK_EVERY = 1.0  # for a folder that is gone


class Over(Exception):
    """The part of this node is over: the leader says so, or is gone."""


class Follower:
    def __init__(self, plan: Plan, folder: Path, signals: Signals) -> None:
        self._plan, self._folder, self._signals = plan, folder, signals
        self._crew = Crew(plan, folder, signals)
        self._link: Link | None = None
        self._said: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._shipping: Shipping | None = None
        self._address = ""
        self._meeting: Meeting | None = None
        self._spawned: dict[int, int] = {}  # process id → the number by which the leader knows it
        self._over = threading.Event()
        self._stop_told = False

    def run(self) -> int:
        self._crew.enlist()
        try:
            self._link = find_leader(self._plan, self._folder, self._check_stop)
            if self._link is not None:
                self._listen(self._link)
                self._follow()
        except (Over, Stopped, Unwanted) as why:
            say(f"this node's part is over{f': {why}' if str(why) else ''}")
        finally:
            # Also when something went wrong here: nothing of a run outlives it.
            ends, others = self._crew.end()
        try:
            self._tell_ends(ends, others, over=True)
            return self._deliver()
        finally:
            self._over.set()
            if self._link is not None:
                self._link.close()

    def _follow(self) -> None:
        """Do what the leader says, until it is over."""
        self._get_ready()
        from runyard.node.delivery import removal  # noqa: F401 - now: this code may be gone when the script ends

        while True:
            self._tell_ends(*self._crew.reap())
            self._listen_to_leader()
            self._tell_stop()
            self._check_wanted()
            self._signals.wait(LOOK_EVERY)

    def _get_ready(self) -> None:
        """Greet the leader, then prepare. What goes wrong is for the leader to judge."""
        self._listen_to_leader()
        while not self._address:
            self._signals.wait(LOOK_EVERY)
            self._listen_to_leader()
            self._tell_stop()
        try:
            self._crew.get_ready(self._address, self._check, self._tell_preparing)
            assert self._crew.ports is not None
            self._send("ready", ports=self._crew.ports.numbers)
        except RunProblem as problem:
            self._fail(problem)

    def _fail(self, problem: RunProblem) -> None:
        say(f"the processes of this node were not started: {problem.message}")
        self._send("failed", error=problem.as_error())

    # -- what the leader says ----------------------------------------------------------------------------------------

    def _listen_to_leader(self) -> None:
        """Do what the leader has said since this was last called."""
        while True:
            try:
                said = self._said.get_nowait()
            except queue.Empty:
                return
            self._obey(said)

    def _obey(self, said: Message) -> None:
        kind = said["say"]
        if kind == "welcome":
            self._greet(Path(said["folder"]), str(said["word"]))
        elif kind == "go":
            self._go(Meeting.from_dict(said["meeting"]))
        elif kind == "spawn":
            self._spawn(int(said["number"]), list(said["argv"]), dict(said["variables"]))
        elif kind == "unspawn":
            self._unspawn(int(said["number"]))
        elif kind == "end":
            raise Over("the leader has ended it")
        elif kind == LOST:
            raise Over(f"the leader is lost: {said['why']}")

    def _greet(self, leaders: Path, word: str) -> None:
        if _reads(leaders / WITNESS, word) and os.access(leaders, os.W_OK):
            self._crew.share_work(leaders)
        self._address = own_address(self._plan.server_url)
        self._send("hello", host=self._crew.host, address=self._address, shares_work=self._crew.state.shares_work)

    def _go(self, meeting: Meeting) -> None:
        self._meeting = meeting
        if self._plan.distribution.kind != MPI:
            try:
                self._crew.start(self._crew.orders(meeting))
            except RunProblem as problem:
                self._fail(problem)
        self._begin_shipping()

    def _spawn(self, number: int, argv: list[str], more: dict[str, str]) -> None:
        assert self._meeting is not None
        try:
            child = self._crew.spawn(argv, {**self._crew.variables_under_mpi(self._meeting), **more})
            self._spawned[child.pid] = number
        except RunProblem as problem:
            say(f"what mpirun asked for was not started: {problem.message}")
            self._send("spawned_ended", number=number, code=1)

    def _unspawn(self, number: int) -> None:
        for pid, known in self._spawned.items():
            if known == number:
                with suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGTERM)

    # -- what is told it ---------------------------------------------------------------------------------------------

    def _tell_ends(self, ends: list[RankEnd], others: list[Child], over: bool = False) -> None:
        for child in others:
            number = self._spawned.pop(child.pid, None)
            if number is not None and child.exit is not None:
                code = child.exit.code if child.exit.code is not None else 128 + (child.exit.signal or 0)
                self._send("spawned_ended", number=number, code=code)
        if over:
            self._send("over", ends=[end.as_dict() for end in ends])
            return
        for end in ends:
            self._send("ended", end=end.as_dict())

    def _tell_stop(self) -> None:
        if self._signals.stop_asked and not self._stop_told:
            self._stop_told = True
            say("a stop was asked for here: the leader is told")
            self._send("stop_asked")

    def _deliver(self) -> int:
        from runyard.node.delivery.run_delivery import DELIVERED, await_delivery

        self._crew.save(phase=ENDED)
        shipping = self._begin_shipping()
        shipping.finish(None)
        while shipping.outcome is None:
            self._signals.wait(LOOK_EVERY)
        if shipping.outcome == DELIVERED:
            self._send("delivered", warnings=shipping.warnings)
        return await_delivery(shipping, self._folder, self._signals)

    # -- around it ---------------------------------------------------------------------------------------------------

    def _listen(self, link: Link) -> None:
        keep_beating(lambda: [link], self._over)

        def listen() -> None:
            try:
                while True:
                    self._said.put(link.receive())
                    self._signals.wake()
            except LinkLost as why:
                self._said.put({"say": LOST, "why": str(why)})
                self._signals.wake()

        threading.Thread(target=listen, name="leader", daemon=True).start()

    def _send(self, say: str, **more: Any) -> None:
        if self._link is not None:
            self._link.send(say, **more)

    def _check(self) -> None:
        """While it prepares: whether the leader has said that it is over."""
        self._listen_to_leader()
        self._tell_stop()
        self._check_wanted()

    def _check_stop(self) -> None:
        """While there is no leader to be told."""
        if self._signals.stop_asked:
            raise Stopped

    def _check_wanted(self) -> None:
        if (self._shipping is not None and self._shipping.unwanted) or not (self._folder / "plan.json").exists():
            raise Over("the run's folder is gone, or nobody waits for the run any more")

    def _tell_preparing(self, reason: str) -> None:
        """Something takes long: its log is shipped while it grows. What the run is doing is told by the leader."""
        self._begin_shipping()

    def _begin_shipping(self) -> Shipping:
        if self._shipping is None:
            from runyard.node.delivery.run_delivery import Shipping

            shares = self._crew.state.shares_work
            self._shipping = Shipping(self._plan, self._folder, self._signals, shares_work=shares)
        return self._shipping


def _reads(path: Path, word: str) -> bool:
    try:
        return path.read_text("ascii") == word
    except (OSError, ValueError):
        return False
