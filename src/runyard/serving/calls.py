"""Calls of the user's code: who waits, who is running, for how long, and in which thread.

One thread leads: it makes the turns of the loop and starts calls. With a concurrency of 1 that is the main thread, and
it makes the calls itself, between two turns: to hand a call to another thread and back costs more than everything else
that is done for a request. If a call then takes longer than a moment, a second thread, which looks on, takes over the
lead: health checks, new requests and time-outs go on, and the main thread goes on with its call. From then on calls
are handed to the main thread, until they are short again. So the user's code always runs in the thread in which it was
loaded, as frameworks with state by thread (sessions of TensorFlow 1, gradient modes of torch) expect it.

With a higher concurrency the second thread leads from the beginning, and calls go to as many threads.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
import traceback
from collections import deque
from queue import SimpleQueue
from typing import Callable, List, Protocol

from runyard.serving.http.loop import Loop
from runyard.serving.http.message import Response

TICK_SECONDS = 0.01
"""How often the second thread looks at a call of the thread that leads."""

SHORT_SECONDS = 0.002
"""Calls that take less on average are made by the thread that leads."""

STUCK_SECONDS = 10.0
"""How long after its time-out a call may go on before its thread is given up."""


class ScoringTimeout(BaseException):
    """Raised in a thread whose call takes too long. No `Exception`, so that the user's code does not catch it."""


class Call(Protocol):
    """A request whose answer takes the user's code. `together`: calls with an equal one may be made in one."""

    @property
    def together(self) -> object | None: ...

    @property
    def rows(self) -> int: ...

    @property
    def gone(self) -> bool:
        """Whether nobody waits for the answer any more."""
        ...

    def answer(self, response: Response) -> None: ...


Execute = Callable[[List[Call]], List[Response]]
Refusal = Callable[[str], Response]


class Unit:
    """One call of the user's code, for one request or for several together."""

    __slots__ = ("abandoned", "calls", "deadline", "lock", "responses", "returned", "started", "thread")

    def __init__(self, calls: list[Call], deadline: float) -> None:
        self.calls, self.deadline = calls, deadline
        self.responses: list[Response] = []
        self.returned = self.abandoned = False
        self.lock = threading.Lock()
        self.started, self.thread = 0.0, 0


class Limits:
    """The settings of this module, in seconds."""

    def __init__(
        self,
        concurrency: int = 1,
        queue_length: int = 100,
        queue_seconds: float = 0.0,
        timeout_seconds: float = 3600.0,
        batch_size: int = 1,
        batch_seconds: float = 0.0,
    ) -> None:
        self.concurrency, self.queue_length = concurrency, queue_length
        self.queue_seconds, self.timeout_seconds = queue_seconds or timeout_seconds, timeout_seconds
        self.batch_size, self.batch_seconds = batch_size, batch_seconds


class Calls:
    """`refusal` makes the response for "full", "late" (it waited too long), "timeout" and "stuck"."""

    def __init__(self, limits: Limits, execute: Execute, refusal: Refusal) -> None:
        self.limits, self._execute, self._refusal = limits, execute, refusal
        self.loop: Loop
        self.waiting: deque[Call] = deque()
        self.running: list[Unit] = []
        self.stuck = False
        self._since: deque[float] = deque()  # when each of those that wait came
        self._finished: deque[Unit] = deque()
        self._average = 0.0
        self._stopped = False
        self._inline = limits.concurrency == 1
        self._main_leads = self._inline
        self._main_tasks: SimpleQueue[Unit | None] = SimpleQueue()
        self._tasks: SimpleQueue[Unit | None] = SimpleQueue()
        self._main_is_busy = False
        self._threads = 0
        self._baton: list[int] = []
        self._sequence = 0
        self._looks = False
        self._look = threading.Semaphore(0)
        self._take_lead = False
        self._main = 0
        self._turn_ended: Callable[[], None] = lambda: None
        self.patience = 5.0  # how long a turn may wait when there is nothing to do

    # What the thread that leads is asked.

    def submit(self, call: Call) -> None:
        """Take a call up, or refuse it at once when too many wait."""
        # Those that came in one turn are not looked at before its end, so as many may wait as can be begun then.
        free = self.limits.concurrency * self.limits.batch_size - len(self.running)
        if self.stuck or len(self.waiting) >= self.limits.queue_length + max(0, free):
            call.answer(self._refusal("stuck" if self.stuck else "full"))
            return
        self.waiting.append(call)
        self._since.append(self.loop.now)

    def stop(self) -> None:
        """End `serve`, when nothing is running or nobody waits for it any more."""
        self._stopped = True
        self._main_tasks.put(None)
        self.loop.wake()

    def serve(self, turn_ended: Callable[[], None]) -> None:
        """Serve until `stop`, in the thread that has loaded the user's code. The one that leads calls `turn_ended`."""
        self._turn_ended = turn_ended
        self._main = threading.get_ident()
        second = threading.Thread(target=self._second, name="second", daemon=True)
        second.start()
        if not self._main_leads:
            self._take_lead = True
            self._look.release()
        while not self._stopped:
            try:
                if self._main_leads:
                    self._lead(main=True)
                else:
                    self._work(self._main_tasks)
            except ScoringTimeout:  # it came when the call had just returned
                continue
        self._look.release()
        second.join()

    # The lead.

    def _lead(self, main: bool) -> None:
        while not self._stopped:
            self.loop.turn(self._patience())
            while self._finished:
                self._collect(self._finished.popleft(), main)
            if self.running or self.waiting:
                self._look_at_times()
            until = time.monotonic() + TICK_SECONDS  # then the loop has its turn again, however many wait
            while self.waiting and time.monotonic() < until:
                unit = self._gathered()
                if unit is None:
                    break
                if main:
                    if not self._call_here(unit):
                        return  # the second thread leads now
                else:
                    self._hand_out(unit)
            self._turn_ended()
            if not main and self._inline and not self.running and not self.waiting and self._average < SHORT_SECONDS:
                self._main_leads = True
                self._main_tasks.put(None)
                return

    def _patience(self) -> float:
        if self._finished:
            return 0.0
        now = time.monotonic()
        if self.running:
            until = min(unit.deadline + (STUCK_SECONDS if unit.abandoned else 0) for unit in self.running)
            if self.waiting:
                until = min(until, self._since[0] + self.limits.queue_seconds)
            return min(max(until - now, 0.001), 1.0)
        if self.waiting:  # for others to be made together with
            return max(0.0, self._since[0] + self.limits.batch_seconds - now)
        return min(self.patience, 0.2) if self.loop.draining else self.patience

    def _call_here(self, unit: Unit) -> bool:
        """Make a call in the thread that leads; whether it still leads afterwards."""
        unit.thread = threading.get_ident()
        self.running.append(unit)
        baton = [1]
        self._baton = baton
        self._sequence += 1
        if not self._looks:
            self._looks = True
            self._look.release()
        self._perform(unit)
        self._sequence += 1
        try:
            baton.pop()
        except IndexError:
            self._main_leads = False
            self._finished.append(unit)
            self.loop.wake()
            return False
        self._collect(unit, main=True)
        return True

    def _second(self) -> None:
        """The thread that looks on, and leads when the main thread is held up."""
        try:
            self._look_on()
        except BaseException:  # noqa: BLE001 - nobody would lead: another process must take this one's place
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)

    def _look_on(self) -> None:
        while not self._stopped:
            self._look.acquire()
            idle = 0
            while not self._stopped:
                if self._take_lead:
                    self._take_lead = False
                    self._lead(main=False)
                    continue
                before = self._sequence
                time.sleep(TICK_SECONDS)
                if before != self._sequence:
                    idle = 0
                elif before % 2:  # the same call as a tick ago
                    idle = 0
                    try:
                        self._baton.pop()
                    except IndexError:
                        continue  # it has just returned
                    self._main_is_busy = True
                    self._take_lead = True
                else:
                    idle += 1
                    if idle > 20:
                        self._looks = False
                        if before == self._sequence:
                            break
                        self._looks = True

    # Calls.

    def _gathered(self) -> Unit | None:
        """The next call to be made; None when there is none yet, or no thread for it."""
        while self.waiting and self.waiting[0].gone:
            self._next()
        if not self.waiting or len(self.running) >= self.limits.concurrency:
            return None
        first = self.waiting[0]
        if first.together is None or self.limits.batch_size == 1:
            return self._unit([self._next()])
        chosen, rows = self._alike(first)
        if rows < self.limits.batch_size and self.loop.now - self._since[0] < self.limits.batch_seconds:
            return None
        for call in chosen:
            position = self.waiting.index(call)
            del self.waiting[position], self._since[position]
        return self._unit(chosen)

    def _alike(self, first: Call) -> tuple[list[Call], int]:
        chosen, rows = [first], first.rows
        for call in list(self.waiting)[1:]:
            if rows >= self.limits.batch_size:
                break
            if call.together == first.together and rows + call.rows <= self.limits.batch_size and not call.gone:
                chosen.append(call)
                rows += call.rows
        return chosen, rows

    def _next(self) -> Call:
        self._since.popleft()
        return self.waiting.popleft()

    def _unit(self, calls: list[Call]) -> Unit:
        return Unit(calls, time.monotonic() + self.limits.timeout_seconds)

    def _hand_out(self, unit: Unit) -> None:
        self.running.append(unit)
        if not self._main_is_busy:
            self._main_is_busy = True
            self._main_tasks.put(unit)
            return
        if self._threads < self.limits.concurrency - 1:
            self._threads += 1
            threading.Thread(target=self._work_on, name=f"call-{self._threads}", daemon=True).start()
        self._tasks.put(unit)

    def _work_on(self) -> None:
        while not self._stopped:
            try:
                self._work(self._tasks)
            except ScoringTimeout:
                continue

    def _work(self, tasks: SimpleQueue[Unit | None]) -> None:
        unit = tasks.get()
        if unit is None:  # to lead
            return
        unit.thread = threading.get_ident()
        self._perform(unit)
        self._finished.append(unit)
        self.loop.wake()

    def _perform(self, unit: Unit) -> None:
        unit.started = time.perf_counter()
        try:
            unit.responses = self._execute(unit.calls)
            with unit.lock:
                unit.returned = True
        except ScoringTimeout:
            unit.returned = True

    def _collect(self, unit: Unit, main: bool) -> None:
        self.running.remove(unit)
        if not main and unit.thread == self._main:
            self._main_is_busy = False
        self._average += 0.1 * (time.perf_counter() - unit.started - self._average)
        if unit.abandoned:
            return
        for call, response in zip(unit.calls, unit.responses or [self._refusal("timeout")] * len(unit.calls)):
            call.answer(response)

    def _look_at_times(self) -> None:
        now = self.loop.now
        while self.waiting and now - self._since[0] > self.limits.queue_seconds:
            self._next().answer(self._refusal("late"))
        for unit in self.running:
            if now > unit.deadline and not unit.abandoned:
                unit.abandoned = True
                for call in unit.calls:
                    call.answer(self._refusal("timeout"))
                with unit.lock:
                    if not unit.returned:
                        _raise_in(unit.thread)
        held = sum(unit.abandoned and now > unit.deadline + STUCK_SECONDS for unit in self.running)
        if held >= self.limits.concurrency and not self.stuck:
            self.stuck = True  # no thread is left: the process must be replaced
            while self.waiting:
                self._next().answer(self._refusal("stuck"))


def _raise_in(thread: int) -> None:
    """Interrupt a thread between two steps of Python. Code that waits outside of Python notices when it is back."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(ScoringTimeout))
