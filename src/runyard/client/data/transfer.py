"""Fetching one file of a dataset to the disk: in ranges side by side where the server has them, taken up where it
broke off, checked when it is whole.

`<part>` holds what has come so far. Of a file in ranges, `<part>.pieces` lists those that are complete, so that
whoever comes next fetches the others only; of any other, its length is how far it got.
"""

from __future__ import annotations

import errno
import http.client
import os
import time
from concurrent.futures import FIRST_EXCEPTION, Executor, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Mapping

from runyard.client.data.parts import check, pieces_of
from runyard.client.data.problem import FULL, Changed, Halted, refused
from runyard.client.data.web import Answer, Web

TRIES = 5
PIECE = 8 << 20
BUFFER = 1 << 20

Fresh = Callable[[Mapping[str, Any]], "str | None"]
"""A new address for a file whose address has expired; None when there is none."""


@dataclass(frozen=True)
class Around:
    """What a transfer is given: threads for its ranges, whether it is still wanted, and who counts the bytes."""

    web: Web
    ranges: Executor
    halt: Callable[[], None]  # raises Halted
    came: Callable[[int], None]
    fresh: Fresh = lambda each: None


def fetch(each: Mapping[str, Any], part: Path, around: Around, seed: Path | None = None) -> None:
    """Fetch the file at `each["url"]` into `part`. What is there of it already is kept; `seed` may hold ranges of it
    that a mount has read. TransferProblem when it cannot be had, OSError when the disk does not take it."""
    size = each["size"]
    if size is None or size < 2 * PIECE or not _in_pieces(each, int(size), part, around, seed):
        _in_one(each, part, around)
    check(each, part)


def piece(each: Mapping[str, Any], begin: int, end: int, file: int, around: Around, at: int | None = None) -> bool:
    """Write the bytes from `begin` to `end` at that place of an open file (or from `at` on), however often the
    connection breaks. False when the server gives the whole file only."""
    place = begin if at is None else at
    got = 0

    def once(url: str) -> bool:
        nonlocal got
        with around.web.ask(url, begin + got, end, each.get("headers")) as answer:
            if answer.status == 200:
                return False
            _must_be(answer, 206, each, url)
            for count, block in _blocks(answer, end - begin - got, around):
                _write(file, block, place + got)
                got += count
        if got < end - begin:
            raise ConnectionError(f"the answer ended after {got:,} of {end - begin:,} bytes")
        return True

    return _insisting(each, around, once, lambda: got)


def _in_one(each: Mapping[str, Any], part: Path, around: Around) -> None:
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        got = os.fstat(descriptor).st_size
        around.came(got)

        def once(url: str) -> bool:
            nonlocal got
            etag = each.get("etag")
            match = {"If-Range": str(etag)} if got and etag and not str(etag).startswith("W/") else {}
            with around.web.ask(url, got or None, headers=match) as answer:
                if answer.status == 416:
                    os.ftruncate(descriptor, 0)
                    got = 0
                    raise ConnectionError("what had come is no part of it any more")
                _must_be(answer, 206 if got and answer.status == 206 else 200, each, url)
                if answer.status == 200 and got:
                    around.came(-got)
                    got = 0
                    os.ftruncate(descriptor, 0)
                expected = None if answer.length is None else got + answer.length
                for count, block in _blocks(answer, None, around):
                    _write(descriptor, block, got)
                    got += count
            if expected is not None and got < expected:
                raise ConnectionError(f"the answer ended after {got:,} of {expected:,} bytes")
            return True

        if each["size"] is None or got != each["size"] or not got:
            _insisting(each, around, once, lambda: got)
    finally:
        os.close(descriptor)


def _in_pieces(each: Mapping[str, Any], size: int, part: Path, around: Around, seed: Path | None) -> bool:
    count = -(-size // PIECE)
    noted = pieces_of(part)
    done = _done(noted, count) if part.exists() and part.stat().st_size == size else set()
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    notes = os.open(noted, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | (0 if done else os.O_TRUNC), 0o600)
    failed: list[BaseException] = []

    def halt() -> None:
        around.halt()
        if failed:
            raise Halted

    within = Around(around.web, around.ranges, halt, around.came, around.fresh)

    def one(number: int) -> bool:
        begin, end = number * PIECE, min((number + 1) * PIECE, size)
        try:
            found = _seeded(seed, number, begin, end, descriptor, within)
            if not found and not piece(each, begin, end, descriptor, within):
                return False
            os.write(notes, f"{number}\n".encode())
            return True
        except BaseException as error:
            failed.append(error)
            raise

    try:
        os.ftruncate(descriptor, size)
        around.came(sum(min((number + 1) * PIECE, size) - number * PIECE for number in done))
        missing = [number for number in range(count) if number not in done]
        if missing and not one(missing[0]):  # no ranges: all of it, in one
            os.ftruncate(descriptor, 0)
            noted.unlink()
            return False
        futures: list[Future[bool]] = [around.ranges.submit(one, number) for number in missing[1:]]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            for future in futures:
                future.cancel()
            wait(futures)
        told = [error for error in failed if not isinstance(error, Halted)]
        if failed:
            raise (told or failed)[0]
        if not all(future.result() for future in futures):
            raise refused(each, str(each["url"]), "it gave ranges at first, and then none")
    finally:
        os.close(descriptor)
        os.close(notes)
    noted.unlink()
    return True


def _seeded(seed: Path | None, number: int, begin: int, end: int, descriptor: int, around: Around) -> bool:
    """Take a range from what a mount has read of the file."""
    if seed is None:
        return False
    try:
        with open(seed / str(number), "rb") as file:
            block = file.read()
    except OSError:
        return False
    if len(block) != end - begin:
        return False
    around.halt()
    _write(descriptor, memoryview(block), begin)
    around.came(len(block))
    return True


def _insisting(each: Mapping[str, Any], around: Around, once: Callable[[str], bool], so_far: Callable[[], int]) -> bool:
    """Try until it is whole. What counts is whether anything comes: a server may break off as often as it likes."""
    url, said, tries, before = str(each["url"]), "", 0, so_far()
    renewed = False
    while tries < TRIES:
        if tries:
            _pause(min(0.2 * 2**tries, 5.0), around.halt)
        around.halt()
        try:
            return once(url)
        except _Refusal as refusal:
            said = str(refusal)
            fresh = None if renewed else around.fresh(each) if refusal.status in (401, 403) else None
            if fresh is not None:
                url, renewed = fresh, True
                continue
            if 400 <= refusal.status < 500 and refusal.status not in (408, 425, 429):
                break
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, OSError) and _is_disk(error):
                raise
            said = str(getattr(error, "reason", None) or error) or type(error).__name__
        tries = 1 if so_far() > before else tries + 1
        before = so_far()
    raise refused(each, url, said)


class _Refusal(Exception):
    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"{status} {reason}".strip())
        self.status = status


def _must_be(answer: Answer, status: int, each: Mapping[str, Any], url: str) -> None:
    if answer.status != status:
        raise _Refusal(answer.status, answer.reason)
    listed, now = each.get("etag"), answer.headers.get("ETag")
    if listed and now and _bare(str(listed)) != _bare(now):
        raise Changed(each, f"has changed since it was listed (ETag {now}, and it was {listed})")


def _bare(etag: str) -> str:
    return (etag[2:] if etag.startswith("W/") else etag).strip('"')


def _blocks(answer: Answer, most: int | None, around: Around) -> Any:
    """The body in blocks, each with its length; a block is good until the next one is asked for."""
    buffer = memoryview(bytearray(BUFFER))
    left = most
    while left is None or left > 0:
        around.halt()
        count = answer.readinto(buffer if left is None else buffer[: min(left, BUFFER)])
        if not count:
            return
        if left is not None:
            left -= count
        yield count, buffer[:count]
        around.came(count)


def _write(descriptor: int, block: memoryview, at: int) -> None:
    while block:
        written = os.pwrite(descriptor, block, at)
        block, at = block[written:], at + written


def _done(noted: Path, count: int) -> set[int]:
    try:
        lines = noted.read_text("ascii").split("\n")[:-1]  # the last one may not be whole
    except (OSError, ValueError):
        return set()
    return {int(line) for line in lines if line.isdigit() and int(line) < count}


def _pause(seconds: float, halt: Callable[[], None]) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        halt()
        time.sleep(0.05)


def _is_disk(error: OSError) -> bool:
    """Whether an error is about writing here, and not about the connection."""
    return error.filename is not None or error.errno in (*FULL, errno.EROFS, errno.EFBIG)
