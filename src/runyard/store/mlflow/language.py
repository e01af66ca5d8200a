"""MLflow's language of filters and orders, taken apart: `metrics.acc > 0.9 and params.lr = '0.1'`, `metrics.acc DESC`.

What the words mean for runs, models or experiments is not decided here (`run_search`, `matching`). A text that does
not parse is refused with the place where it stops making sense.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from runyard.contracts import names
from runyard.store.errors import Refused

METRIC, PARAMETER, TAG, ATTRIBUTE, DATASET = "metric", "parameter", "tag", "attribute", "dataset"

KINDS = {
    **dict.fromkeys(("metric", "metrics"), METRIC),
    **dict.fromkeys(("parameter", "parameters", "param", "params"), PARAMETER),
    **dict.fromkeys(("tag", "tags"), TAG),
    **dict.fromkeys(("attribute", "attributes", "attr", "run"), ATTRIBUTE),
    **dict.fromkeys(("dataset", "datasets"), DATASET),
}

ORDERED = ("=", "!=", ">", ">=", "<", "<=")
TEXTUAL = ("=", "!=", "LIKE", "ILIKE", "IN", "NOT IN")
PRESENCE = ("IS NULL", "IS NOT NULL")

MOST_CONDITIONS = 100
LONGEST_PATTERN = 10_000

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<sign>>=|<=|!=|<>|=|>|<|\(|\)|,)
      | (?P<word>[^\s'"`=<>!(),]+)
      | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`)
    )""",
    re.VERBOSE | re.DOTALL,
)
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True)
class Condition:
    """One comparison. `value` is a number, a text, several texts (IN, NOT IN), or None (IS NULL, IS NOT NULL)."""

    kind: str
    key: str
    sign: str
    value: float | str | tuple[str, ...] | None
    position: int


@dataclass(frozen=True)
class Order:
    kind: str
    key: str
    descending: bool


@dataclass(frozen=True)
class Attributes:
    """What can be asked for without a kind: by its name, the one it stands for. `numbers` are compared as such."""

    names: Mapping[str, str]
    numbers: frozenset[str]


def parse_filter(text: str | None, attributes: Attributes) -> list[Condition]:
    """The conditions of a filter; all of them have to hold."""
    if not text or not text.strip():
        return []
    reader = _Reader(text)
    found = [_condition(reader, attributes)]
    while not reader.at_end:
        reader.expect("AND", "`and`, or the end of the filter")
        found.append(_condition(reader, attributes))
        if len(found) > MOST_CONDITIONS:
            reader.refuse(f"The filter has more than {MOST_CONDITIONS} conditions")
    return found


def parse_orders(texts: Iterable[str], attributes: Attributes) -> list[Order]:
    """What to order by, the first one first."""
    found = []
    for text in texts:
        reader = _Reader(text, "order")
        kind, key, _ = _identifier(reader, attributes)
        descending = False
        if not reader.at_end:
            word = reader.take().upper()
            if word not in ("ASC", "DESC") or not reader.at_end:
                reader.refuse("After what to order by comes ASC, DESC or nothing")
            descending = word == "DESC"
        found.append(Order(kind, key, descending))
        if len(found) > MOST_CONDITIONS:
            reader.refuse(f"There are more than {MOST_CONDITIONS} things to order by")
    return found


def _condition(reader: _Reader, attributes: Attributes) -> Condition:
    kind, key, position = _identifier(reader, attributes)
    sign = _sign(reader)
    numeric = kind == METRIC or (kind == ATTRIBUTE and key in attributes.numbers)
    allowed = ORDERED if numeric else (*TEXTUAL, *PRESENCE) if kind in (PARAMETER, TAG) else TEXTUAL
    if sign not in allowed:
        reader.refuse(f"{names.shown(key)} can be compared by {', '.join(allowed)}, and not by {sign}")
    if sign in PRESENCE:
        return Condition(kind, key, sign, None, position)
    if sign in ("IN", "NOT IN"):
        return Condition(kind, key, sign, _several(reader), position)
    if numeric:
        return Condition(kind, key, sign, _number(reader, key), position)
    value = _text(reader, key)
    if sign in ("LIKE", "ILIKE") and len(value) > LONGEST_PATTERN:
        reader.refuse(f"A pattern has at most {LONGEST_PATTERN:,} characters")
    return Condition(kind, key, sign, value, position)


def _identifier(reader: _Reader, attributes: Attributes) -> tuple[str, str, int]:
    """What is compared: `metrics.acc`, "params.`batch size`", `start_time`."""
    position = reader.position
    token = reader.take()
    if reader.is_text(token):
        return (*_attribute(reader, _unquoted(token), attributes), position)
    word, dot, rest = token.partition(".")
    kind = KINDS.get(word.lower())
    if not dot or kind is None:
        if dot:
            reader.refuse(f"{names.shown(word)} is nothing that can be asked for: use {_kinds()}")
        return (*_attribute(reader, token, attributes), position)
    key = rest
    if not rest:
        following = reader.take(touching=True)
        if not reader.is_text(following):
            reader.refuse(f"After {names.shown(token)} comes a name")
        key = _unquoted(following)
    return (*_attribute(reader, key, attributes), position) if kind == ATTRIBUTE else (kind, key, position)


def _attribute(reader: _Reader, name: str, attributes: Attributes) -> tuple[str, str]:
    known = attributes.names.get(name) or attributes.names.get(name.lower())
    if known is None:
        listed = ", ".join(dict.fromkeys(attributes.names))
        reader.refuse(f"There is no attribute {names.shown(name)}: there is {listed}; or use {_kinds()}")
    return ATTRIBUTE, known


def _kinds() -> str:
    return "metrics.<name>, params.<name> or tags.<name>"


def _sign(reader: _Reader) -> str:
    token = reader.take().upper()
    if token == "<>":
        return "!="
    if token == "NOT":
        reader.expect("IN", "IN")
        return "NOT IN"
    if token == "IS":
        following = reader.take().upper()
        if following == "NOT":
            reader.expect("NULL", "NULL")
            return "IS NOT NULL"
        if following != "NULL":
            reader.refuse("After IS comes NULL or NOT NULL")
        return "IS NULL"
    if token not in (*ORDERED, *TEXTUAL):
        reader.refuse(f"{names.shown(token)} is no comparison: use {', '.join((*ORDERED, *TEXTUAL[2:], *PRESENCE))}")
    return token


def _number(reader: _Reader, key: str) -> float:
    token = reader.take()
    try:
        return float(_unquoted(token))
    except ValueError:
        reader.refuse(f"{names.shown(key)} is compared with a number, and {names.shown(token)} is none")


def _text(reader: _Reader, key: str) -> str:
    token = reader.take()
    if not reader.is_text(token) or token.startswith("`"):
        reader.refuse(f"{names.shown(key)} is compared with a text in quotes, and not with {names.shown(token)}")
    return _unquoted(token)


def _several(reader: _Reader) -> tuple[str, ...]:
    reader.expect("(", "a list of texts in parentheses")
    found = [_text(reader, "each of a list")]
    while (token := reader.take()) == ",":
        found.append(_text(reader, "each of a list"))
    if token != ")":
        reader.refuse("The list has no end: `)` is missing")
    return tuple(found)


def _unquoted(token: str) -> str:
    if token[:1] not in ("'", '"', "`"):
        return token
    inner = token[1:-1]
    return inner if token[0] == "`" else re.sub(r"\\(['\"\\])", r"\1", inner)


class _Reader:
    """A text, token by token."""

    def __init__(self, text: str, what: str = "filter") -> None:
        self._text, self._what = text, what
        self._at = self._start = 0

    @property
    def position(self) -> int:
        """Where the next token begins."""
        space = _SPACE.match(self._text, self._at)
        return space.end() if space is not None else self._at

    @property
    def at_end(self) -> bool:
        return self.position >= len(self._text)

    def take(self, touching: bool = False) -> str:
        self._start = self.position
        found = _TOKEN.match(self._text, self._at)
        if found is None or (touching and self._start != self._at):
            if self.at_end:
                self.refuse("It ends too early")
            self.refuse(f"{names.shown(self._text[self._start : self._start + 20])} cannot be read")
        self._at = found.end()
        return found[0].strip() if found["text"] is None else found["text"]

    def expect(self, word: str, meaning: str) -> None:
        token = self.take()
        if token.upper() != word:
            self.refuse(f"Here should be {meaning}, and not {names.shown(token)}")

    def is_text(self, token: str) -> bool:
        return token[:1] in ("'", '"', "`")

    def refuse(self, why: str) -> NoReturn:
        around = self._text[max(0, self._start - 30) : self._start + 30]
        raise Refused(
            "bad_filter",
            f"The {self._what} cannot be understood at character {self._start + 1}, near {around!r}: {why}.",
            "For example: metrics.acc > 0.9 and params.lr = '0.1' and tags.`my tag` LIKE '%x%'.",
            {"position": self._start + 1},
        )
