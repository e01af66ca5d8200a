"""The space that a sweep samples: a parameter expression per name, in the form of SDK v1, `[name, arguments]`.

choice      [[option, ...]]            one of the options
randint     [upper]                    a whole number from 0 to upper - 1
uniform     [low, high]                quniform     [low, high, q]     rounded to multiples of q
loguniform  [low, high]                exp of a uniform number         qloguniform
normal      [mu, sigma]                qnormal
lognormal   [mu, sigma]                exp of a normal number          qlognormal
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

CHOICE, RANDINT = "choice", "randint"
UNIFORM, QUNIFORM, LOGUNIFORM, QLOGUNIFORM = "uniform", "quniform", "loguniform", "qloguniform"
NORMAL, QNORMAL, LOGNORMAL, QLOGNORMAL = "normal", "qnormal", "lognormal", "qlognormal"

RANGES = (UNIFORM, QUNIFORM, LOGUNIFORM, QLOGUNIFORM)
BELLS = (NORMAL, QNORMAL, LOGNORMAL, QLOGNORMAL)
ROUNDED = (QUNIFORM, QLOGUNIFORM, QNORMAL, QLOGNORMAL)
ALL = (CHOICE, RANDINT, *RANGES, *BELLS)

MOST_PARAMETERS = 1_000
MOST_OPTIONS = 100_000
LARGEST_EXPONENT = 700.0
"""exp of more than this is no number of a computer."""

Value = Any
"""What a parameter can be: a number, a text, a bool, None, or a list of them."""


class BadSpace(ValueError):
    """Why something is no space of parameters."""


@dataclass(frozen=True)
class Expression:
    """One parameter: `name` of the distribution, and its arguments."""

    name: str
    arguments: tuple[Any, ...]

    @property
    def options(self) -> Sequence[Value]:
        """The options of a choice."""
        found: Sequence[Value] = self.arguments[0]
        return found

    @property
    def step(self) -> float | None:
        """What a value is rounded to a multiple of."""
        return float(self.arguments[2]) if self.name in ROUNDED else None

    @property
    def size(self) -> int | None:
        """How many values there are; None when they cannot be counted."""
        if self.name == CHOICE:
            return len(self.options)
        if self.name == RANDINT:
            return int(self.arguments[0])
        if self.name == QUNIFORM:
            low, high, step = (float(each) for each in self.arguments)
            return max(1, int(math.floor(high / step) - math.ceil(low / step)) + 1)
        return None


Space = Mapping[str, Expression]


def bare(name: str) -> str:
    """A parameter's name as names are compared: without the dashes before it.

    >>> bare("--learning-rate")
    'learning-rate'
    """
    return name.lstrip("-")


def is_name(name: object) -> bool:
    """Whether something can be the name of a parameter.

    >>> is_name("--größe der Schicht"), is_name("--"), is_name(7)
    (True, False, False)
    """
    return isinstance(name, str) and bool(bare(name).strip()) and len(name) <= 255 and not {"\0", "\n"} & set(name)


def option(name: str) -> str:
    """How a script is given a parameter: a name without dashes gets two.

    >>> option("lr"), option("-C"), option("--lr")
    ('--lr', '-C', '--lr')
    """
    return name if name.startswith("-") else f"--{name}"


def parse(document: object) -> dict[str, Expression]:
    """The space of a document `{name: [expression, arguments]}`."""
    if not isinstance(document, Mapping) or not document:
        raise BadSpace("The parameter space is empty: give it a dict such as {'--lr': uniform(0.01, 0.1)}.")
    if len(document) > MOST_PARAMETERS:
        raise BadSpace(f"The parameter space has {len(document)} parameters; {MOST_PARAMETERS} are the most.")
    space: dict[str, Expression] = {}
    for name, written in document.items():
        if not is_name(name):
            raise BadSpace(f"{str(name)[:80]!r} is no name of a parameter.")
        space[name] = expression(name, written)
    seen: dict[str, str] = {}
    for name in space:
        if bare(name) in seen:
            raise BadSpace(f"The parameters {seen[bare(name)]!r} and {name!r} are one: dashes do not count in names.")
        seen[bare(name)] = name
    return space


def expression(parameter: str, written: object) -> Expression:
    """The expression of one parameter, or of none in particular where its name is empty."""
    if not isinstance(written, (list, tuple)) or len(written) != 2 or not isinstance(written[1], (list, tuple)):
        raise BadSpace(
            f"{parameter!r} is {_shown(written)}, and no expression. Use one, such as choice(1, 2) or uniform(0, 1)."
        )
    name, arguments = written
    if name not in ALL:
        raise BadSpace(f"{parameter!r} has the expression {_shown(name)}; there are: {', '.join(ALL)}.")
    made = Expression(str(name), tuple(arguments))
    _check(parameter, made)
    return made


def size(space: Space) -> int | None:
    """How many combinations a space has; None when they cannot be counted."""
    total = 1
    for each in space.values():
        if each.size is None:
            return None
        total *= each.size
    return total


def _check(parameter: str, made: Expression) -> None:
    what = f"{made.name} of {parameter!r}" if parameter else made.name
    if made.name == CHOICE:
        if len(made.arguments) != 1 or not isinstance(made.arguments[0], (list, tuple)) or not made.arguments[0]:
            raise BadSpace(f"{what} has nothing to choose from.")
        if len(made.options) > MOST_OPTIONS:
            raise BadSpace(f"{what} has more than {MOST_OPTIONS} options.")
        return
    count = 1 if made.name == RANDINT else 3 if made.name in ROUNDED else 2
    if len(made.arguments) != count:
        raise BadSpace(f"{what} takes {count} numbers, not {len(made.arguments)}.")
    for each in made.arguments:
        if isinstance(each, bool) or not isinstance(each, (int, float)) or not _is_finite(each):
            raise BadSpace(f"{what} takes numbers, not {_shown(each)}.")
    if made.name == RANDINT:
        upper = made.arguments[0]
        if not isinstance(upper, int) or upper < 1:
            raise BadSpace(f"{what} takes a whole number from 1 on, not {upper!r}.")
        return
    first, second = made.arguments[0], made.arguments[1]
    if made.name in (UNIFORM, QUNIFORM) and first >= second:
        raise BadSpace(f"{what}: its smallest value {first} must be below its largest {second}.")
    if made.name in (LOGUNIFORM, QLOGUNIFORM) and first > second:
        raise BadSpace(f"{what}: its smallest exponent {first} is above its largest {second}.")
    if made.name in (LOGUNIFORM, QLOGUNIFORM) and second > LARGEST_EXPONENT:
        raise BadSpace(f"{what} takes exponents: exp({second}) is no number a computer has.")
    if made.name in BELLS and second < 0:
        raise BadSpace(f"{what}: sigma must not be negative, and is {second}.")
    if made.name in (LOGNORMAL, QLOGNORMAL) and first + 9 * second > LARGEST_EXPONENT:
        raise BadSpace(f"{what} takes exponents: exp({first} ± {second}) is no number.")
    if made.step is not None and (made.step <= 0 or made.step != int(made.step)):
        raise BadSpace(f"{what}: q must be a whole number from 1 on, not {made.arguments[2]!r}.")


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def _shown(value: object) -> str:
    return repr(value)[:80]
