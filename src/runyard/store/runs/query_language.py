"""The sentences that find runs: `status:failed metrics.acc>0.9 tag.owner=me`. Nothing here knows the database.

sentence   terms with `and` (which may be left out) and `or` between them, `not` or `-` before one, parentheses
term       a word, which is looked for in names and ids; or a field, a comparison and a value
comparison : = != > >= < <= ~       `:` is what suits the field; `~` is "contains"; several values: a,b,c
field      status name id experiment target type user number created started ended duration age parent root
           is:archived is:active is:ended is:child is:sweep
           metrics.NAME  params.NAME  tag.NAME  prop.NAME     has:metrics.NAME
value      a word, or "in quotes"; a number; a time such as 2026-11-18 or 2026-11-18T20:00; a length such as 7d 1h30m
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Literal

from runyard.store.errors import Refused

LONGEST = 4000
"""Characters of a sentence."""
DEEPEST = 20
"""Parentheses in one another."""
MOST_TERMS = 100

Comparison = Literal[":", "=", "!=", ">", ">=", "<", "<=", "~"]
METRIC, PARAMETER, TAG, PROPERTY = "metrics", "params", "tag", "prop"

TEXTS = ("name", "id", "experiment", "target", "type", "user", "parent", "root")
TIMES = ("created", "started", "ended")
LENGTHS = ("duration", "age")
FLAGS = ("archived", "active", "ended", "child", "sweep")
FIELDS = ("status", *TEXTS, "number", *TIMES, *LENGTHS)
FAMILIES = {
    "metrics": METRIC,
    "metric": METRIC,
    "params": PARAMETER,
    "param": PARAMETER,
    "tag": TAG,
    "tags": TAG,
    "prop": PROPERTY,
    "properties": PROPERTY,
}


class BadQuery(Refused):
    """A sentence that cannot be understood; `detail` names the characters."""

    def __init__(self, title: str, help: str, start: int, end: int) -> None:
        detail = {"position": start, "length": max(1, end - start)}
        super().__init__("bad_query", f"{title} (character {start + 1})", help, detail)


@dataclass(frozen=True)
class Term:
    """A comparison. `family` is that of a named value (`metrics.acc`), and `field` its name then."""

    field: str
    comparison: Comparison
    values: tuple[str, ...]
    family: str | None = None
    numbers: tuple[float, ...] = ()  # the values as numbers, where that is what is compared
    times: tuple[datetime, ...] = ()


@dataclass(frozen=True)
class Word:
    """A text that names or ids contain."""

    text: str


@dataclass(frozen=True)
class Not:
    part: Part


@dataclass(frozen=True)
class All:
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Any:
    parts: tuple[Part, ...]


Part = Term | Word | Not | All | Any

EVERYTHING = All(())


_SPACE = re.compile(r"\s+")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_BARE = re.compile(r'[^\s()"<>=!~:,]+')
_NAME = re.compile(r'[^\s()"<>=!~:,.]+')
_VALUE = re.compile(r'[^\s()",]+')
_SIGN = re.compile(r"!=|>=|<=|[:=<>~]")
_LENGTH = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|min|h|d|w)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def parse(text: str) -> Part:
    """What a sentence asks for. BadQuery says where it cannot be understood."""
    if len(text) > LONGEST:
        raise BadQuery("The filter is too long", f"Use {LONGEST} characters at most.", LONGEST, len(text))
    return _Parser(text).sentence()


def uses_archived(part: Part) -> bool:
    """Whether a sentence says whether it wants archived runs: else they are left out."""
    if isinstance(part, Term):
        return part.field == "is" and "archived" in part.values
    if isinstance(part, Not):
        return uses_archived(part.part)
    return isinstance(part, (All, Any)) and any(map(uses_archived, part.parts))


def uses_metrics(part: Part) -> bool:
    """Whether runs are found by what they have measured."""
    if isinstance(part, Term):
        return part.family == METRIC
    if isinstance(part, Not):
        return uses_metrics(part.part)
    return isinstance(part, (All, Any)) and any(map(uses_metrics, part.parts))


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._terms = 0

    def sentence(self) -> Part:
        found = self._either(0)
        if self._at < len(self._text):
            raise self._bad("There is no '(' for this ')'", "Leave it out.")
        return found

    def _either(self, depth: int) -> Part:
        parts = [self._every(depth)]
        while self._keyword("or"):
            parts.append(self._every(depth))
        if len(parts) > 1 and any(part == EVERYTHING for part in parts):
            raise self._bad("Something is missing beside 'or'", "Write a comparison on both sides of it.")
        return parts[0] if len(parts) == 1 else Any(tuple(parts))

    def _every(self, depth: int) -> Part:
        parts: list[Part] = []
        while True:
            self._space()
            if self._at >= len(self._text) or self._text[self._at] == ")" or self._sees("or"):
                return parts[0] if len(parts) == 1 else All(tuple(parts))
            if not (parts and self._keyword("and")):
                parts.append(self._one(depth))

    def _one(self, depth: int) -> Part:
        self._space()
        if self._keyword("not"):
            return Not(self._one(depth + 1)) if depth < DEEPEST else self._too_deep()
        if self._text.startswith("-", self._at) and self._at + 1 < len(self._text):
            self._at += 1
            return Not(self._one(depth + 1)) if depth < DEEPEST else self._too_deep()
        if self._text.startswith("(", self._at):
            if depth >= DEEPEST:
                self._too_deep()
            start = self._at
            self._at += 1
            inner = self._either(depth + 1)
            if not self._text.startswith(")", self._at):
                raise BadQuery(
                    "This '(' is not closed", "Write a ')' at the end of what belongs together.", start, start + 1
                )
            self._at += 1
            return inner
        if self._at >= len(self._text) or self._text[self._at] == ")":
            raise self._bad("Something is missing here", "Write a comparison such as status:failed.")
        return self._term()

    def _term(self) -> Part:
        self._terms += 1
        if self._terms > MOST_TERMS:
            raise self._bad("The filter has too many parts", f"Use {MOST_TERMS} at most.")
        start = self._at
        names = self._names()
        sign = _SIGN.match(self._text, self._at)
        if sign is None:
            return Word(names[0] if len(names) == 1 else self._text[start : self._at].replace('"', ""))
        self._at = sign.end()
        values = self._values()
        comparison: Comparison = sign[0]  # type: ignore[assignment]
        return self._checked(names, comparison, values, start, sign.start())

    def _names(self) -> list[str]:
        """A name and what follows it after its first dot, which may hold further dots."""
        start = self._at
        quoted = _TEXT.match(self._text, self._at)
        if quoted is not None:
            self._at = quoted.end()
            return [_unquoted(quoted[1])]
        found = _NAME.match(self._text, self._at)
        if found is None:
            if self._text.startswith('"', self._at):
                raise BadQuery("This quote is not closed", 'Write a " at the end of the text.', start, len(self._text))
            raise self._bad(f"{self._text[self._at]!r} stands where a name belongs", "Names come before comparisons.")
        self._at = found.end()
        if not self._text.startswith(".", self._at):
            return [found[0]]
        self._at += 1
        quoted = _TEXT.match(self._text, self._at)
        if quoted is not None:
            self._at = quoted.end()
            return [found[0], _unquoted(quoted[1])]
        rest = _BARE.match(self._text, self._at)
        if rest is None:
            return [found[0], ""]
        self._at = rest.end()
        return [found[0], rest[0]]

    def _values(self) -> list[tuple[str, int, int]]:
        found: list[tuple[str, int, int]] = []
        while True:
            start = self._at
            quoted = _TEXT.match(self._text, start)
            # A value may hold colons, as times do, and signs that would begin a comparison elsewhere.
            bare = None if quoted else _VALUE.match(self._text, start)
            if quoted is not None:
                self._at = quoted.end()
                found.append((_unquoted(quoted[1]), start, self._at))
            elif bare is not None:
                self._at = bare.end()
                found.append((bare[0], start, self._at))
            elif self._text.startswith('"', start):
                raise BadQuery("This quote is not closed", 'Write a " at the end of the text.', start, len(self._text))
            else:
                raise BadQuery(
                    "A value is missing here", "Write what to compare with, such as failed or 0.9.", start, start + 1
                )
            if not self._text.startswith(",", self._at):
                return found
            self._at += 1

    def _checked(
        self, names: Sequence[str], comparison: Comparison, values: list[tuple[str, int, int]], start: int, end: int
    ) -> Part:
        texts = tuple(text for text, _, _ in values)
        first = names[0].lower()
        if len(names) == 2:
            family = FAMILIES.get(first)
            if family is None:
                known = "metrics., params., tag. or prop."
                raise BadQuery(
                    f"There is nothing called {names[0]!r}", f"Names with a dot begin with {known}", start, end
                )
            if not names[1]:
                raise BadQuery("A name is missing after the dot", f"Write {first}.NAME.", start, end)
            numbers: tuple[float, ...] = ()
            if comparison in (">", ">=", "<", "<=") or family == METRIC:
                if texts == ("*",) and comparison in (":", "="):
                    return Term("has", ":", (names[1],), family)
                numbers = tuple(_number(*value) for value in values)
            elif texts == ("*",):
                return Term("has", ":", (names[1],), family)
            return Term(names[1], comparison, texts, family, numbers)
        if first == "is":
            for text, at, until in values:
                if text.lower() not in FLAGS:
                    raise BadQuery(f"There is no is:{text[:40]}", f"There are {', '.join(FLAGS)}.", at, until)
            return Term("is", ":", tuple(text.lower() for text in texts))
        if first == "has":
            return self._has(values)
        if first not in FIELDS:
            help = f"Fields are {', '.join(FIELDS)}; and metrics.NAME, params.NAME, tag.NAME, prop.NAME."
            raise BadQuery(f"There is no field {names[0][:40]!r}", help, start, end)
        if first in LENGTHS:
            return Term(first, comparison, texts, numbers=tuple(_length(*value) for value in values))
        if first in TIMES:
            return Term(first, comparison, texts, times=tuple(_time(*value) for value in values))
        if first == "number":
            return Term(first, comparison, texts, numbers=tuple(_number(*value) for value in values))
        if comparison in (">", ">=", "<", "<="):
            raise BadQuery(f"{first} is a text: it cannot be larger or smaller", "Use : = != or ~.", start, end)
        return Term(first, comparison, texts)

    def _has(self, values: list[tuple[str, int, int]]) -> Part:
        parts: list[Part] = []
        for text, start, end in values:
            family, dot, name = text.partition(".")
            if family not in FAMILIES or not dot or not name:
                raise BadQuery(f"{text[:40]!r} is nothing that a run has", "Write has:metrics.NAME.", start, end)
            parts.append(Term("has", ":", (name.strip('"'),), FAMILIES[family]))
        return parts[0] if len(parts) == 1 else Any(tuple(parts))

    def _space(self) -> None:
        found = _SPACE.match(self._text, self._at)
        if found is not None:
            self._at = found.end()

    def _sees(self, word: str) -> bool:
        self._space()
        after = self._at + len(word)
        is_word = self._text[self._at : after].lower() == word
        return is_word and (after >= len(self._text) or self._text[after] in " \t\n()")

    def _keyword(self, word: str) -> bool:
        if not self._sees(word):
            return False
        self._at += len(word)
        return True

    def _too_deep(self) -> Part:
        raise self._bad("There are too many parentheses in one another", f"Use {DEEPEST} at most.")

    def _bad(self, title: str, help: str) -> BadQuery:
        return BadQuery(title, help, self._at, self._at + 1)


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _number(text: str, start: int, end: int) -> float:
    try:
        found = float(text)
    except ValueError:
        found = float("nan")
    if found != found:
        raise BadQuery(f"{text[:40]!r} is no number", "Write one such as 0.9 or 1e-3.", start, end)
    return found


def _length(text: str, start: int, end: int) -> float:
    seconds, at = 0.0, 0
    while at < len(text):
        found = _LENGTH.match(text, at)
        if found is None or len(text) > 40:
            raise BadQuery(f"{text[:40]!r} is no length of time", "Write one such as 90s, 1h30m or 7d.", start, end)
        seconds += float(found[1]) * _SECONDS[found[2] or ""]
        at = found.end()
    return seconds


def _time(text: str, start: int, end: int) -> datetime:
    try:
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        help = "Write one such as 2026-11-18 or 2026-11-18T20:00; for 'within the last week' write age<7d."
        raise BadQuery(f"{text[:40]!r} is no time", help, start, end) from None
    return found if found.tzinfo is not None else found.replace(tzinfo=timezone.utc)
