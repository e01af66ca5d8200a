"""Node k of a gang: gets ready, starts its processes when node 0 sends `go`, and reports to it how they end.

A follower that loses its leader ends its processes and delivers what they wrote. It never reports the run's end to the
server.
"""

from __future__ import annotations

import os
import queue
import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from runyard.contracts.plan import Plan
from runyard.node.crew import Crew
from runyard.node.gang.link import LOST, WITNESS, Link, LinkLost, Message, keep_beating, own_address
from runyard.node.gang.publish import find_leader
from runyard.node.launch.children import Child
from runyard.node.launch.meeting import Meeting
from runyard.node.log import log_line
from runyard.node.outcome.rank_ends import RankEnd
from runyard.node.problem import RunProblem, Stopped, Unwanted
from runyard.node.signals import Signals
from runyard.node.state import ENDED

LOOK_EVERY = 1.0  # for a folder that is gone


class Over(Exception):
    """The part of this node is over: the leader has ended it, or is lost."""


class Follower:
    def __init__(self, plan: Plan, folder: Path, signals: Signals) -> None:
        self._plan, self._folder, self._signals = plan, folder, signals
        self._crew = Crew(plan, folder, signals)
        self._link: Link | None = None
        self._inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._address = ""
        self._meeting: Meeting | None = None
        self._spawned: dict[int, int] = {}  # process id → the number that the leader has given it
        self._over = threading.Event()
        self._stop_reported = False

    def run(self) -> int:
        self._crew.enlist()
        try:
            self._link = find_leader(self._plan, self._folder, self._check_stop)
            if self._link is not None:
                self._receive_from(self._link)
                self._follow()
        except (Over, Stopped, Unwanted) as why:
            log_line(f"this node's part is over{f': {why}' if str(why) else ''}")
        finally:
            # Also when something went wrong here: nothing of a run outlives it.
            ends, others = self._crew.end()
        try:
            self._report_ends(ends, others, over=True)
            return self._deliver()
        finally:
            self._over.set()
            if self._link is not None:
                self._link.close()

    def _follow(self) -> None:
        """Do what the leader orders, until it is over."""
        self._get_ready()
        self._crew.load_the_rest()
        while True:
            self._report_ends(*self._crew.reap())
            self._check()
            self._crew.observe()
            self._signals.wait(LOOK_EVERY)

    def _get_ready(self) -> None:
        """Greet the leader, then prepare. What goes wrong is for the leader to judge."""
        self._obey_messages()
        while not self._address:
            self._signals.wait(LOOK_EVERY)
            self._obey_messages()
            self._report_stop()
        try:
            self._crew.get_ready(self._address, self._check, self._deliver_meanwhile)
            assert self._crew.ports is not None
            self._send("ready", ports=self._crew.ports.numbers, mpi=self._crew.mpi is not None)
        except RunProblem as problem:
            self._fail(problem)

    def _fail(self, problem: RunProblem) -> None:
        log_line(f"the processes of this node were not started: {problem.message}")
        self._send("failed", error=problem.as_error())

    # -- from the leader ----------------------------------------------------------------------------------------------

    def _obey_messages(self) -> None:
        """Do what the leader has ordered since the last call."""
        while True:
            try:
                message = self._inbox.get_nowait()
            except queue.Empty:
                return
            self._obey(message)

    def _obey(self, message: Message) -> None:
        kind = message["say"]
        if kind == "welcome":
            self._greet(Path(message["folder"]), str(message["word"]))
        elif kind == "go":
            self._go(Meeting.from_dict(message["meeting"]))
        elif kind == "spawn":
            self._spawn(int(message["number"]), list(message["argv"]), dict(message["variables"]))
        elif kind == "unspawn":
            self._unspawn(int(message["number"]))
        elif kind == "end":
            raise Over("the leader has ended it")
        elif kind == LOST:
            raise Over(f"the leader is lost: {message['why']}")

    def _greet(self, leaders: Path, secret: str) -> None:
        if _holds(leaders / WITNESS, secret) and os.access(leaders, os.W_OK):
            self._crew.share_work(leaders)
        self._address = own_address(self._plan.server_url)
        self._send("hello", host=self._crew.host, address=self._address, shares_work=self._crew.state.shares_work)

    def _go(self, meeting: Meeting) -> None:
        self._meeting = meeting
        if not meeting.mpirun:
            self._crew.mpi = None
            try:
                self._crew.start(self._crew.orders(meeting))
            except RunProblem as problem:
                self._fail(problem)
        self._crew.begin_when_due()

    def _spawn(self, number: int, argv: list[str], more: dict[str, str]) -> None:
        assert self._meeting is not None
        try:
            child = self._crew.spawn(argv, {**self._crew.variables_under_mpi(self._meeting), **more})
            self._spawned[child.pid] = number
            self._crew.begin_when_due()
        except RunProblem as problem:
            log_line(f"what mpirun asked for was not started: {problem.message}")
            self._send("spawned_ended", number=number, code=1)

    def _unspawn(self, number: int) -> None:
        for pid, each in self._spawned.items():
            if each == number:
                with suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGTERM)

    # -- to the leader ----------------------------------------------------------------------------------------------

    def _report_ends(self, ends: list[RankEnd], others: list[Child], over: bool = False) -> None:
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

    def _report_stop(self) -> None:
        if self._signals.stop_requested and not self._stop_reported:
            self._stop_reported = True
            log_line("a stop was requested here: passed on to the leader")
            self._send("stop_asked")

    def _deliver(self) -> int:
        from runyard.node.delivery.run_delivery import DELIVERED, await_delivery

        self._crew.save(phase=ENDED)
        delivery = self._crew.delivery()
        delivery.finish(None)
        while delivery.outcome is None:
            self._signals.wait(LOOK_EVERY)
        if delivery.outcome == DELIVERED:
            self._send("delivered", warnings=delivery.warnings)
        return await_delivery(delivery, self._folder, self._signals)

    # -- around it ---------------------------------------------------------------------------------------------------

    def _receive_from(self, link: Link) -> None:
        keep_beating(lambda: [link], self._over)

        def receive() -> None:
            try:
                while True:
                    self._inbox.put(link.receive())
                    self._signals.wake()
            except LinkLost as why:
                self._inbox.put({"say": LOST, "why": str(why)})
                self._signals.wake()

        threading.Thread(target=receive, name="leader", daemon=True).start()

    def _send(self, kind: str, **more: Any) -> None:
        if self._link is not None:
            self._link.send(kind, **more)

    def _check(self) -> None:
        """Obey the leader, also while this node prepares; raises when the part of this node is over."""
        self._obey_messages()
        self._report_stop()
        self._crew.check_wanted()

    def _check_stop(self) -> None:
        """While there is no leader to report a stop to."""
        if self._signals.stop_requested:
            raise Stopped

    def _deliver_meanwhile(self, reason: str) -> None:
        """Something takes long: its log is delivered while it grows. The leader reports what the run is doing."""
        self._crew.delivery()


def _holds(path: Path, secret: str) -> bool:
    try:
        return path.read_text("ascii") == secret
    except (OSError, ValueError):
        return False
