"""Which values a metric may have, and how numbers of numpy, torch and others become one of them."""

from __future__ import annotations

from typing import Any, Iterable, Union

from runyard.sdk.exceptions import AzureMLException, UserErrorException

Scalar = Union[float, int, str, bool, None]

MAX_INTEGER_BITS = 10_000  # Python refuses to write out integers much longer than this


def scalar(value: object) -> tuple[Scalar, bool]:
    """The value as a metric stores it, and whether it still means the same (False: it has become its `repr`).

    >>> scalar(3), scalar(b"x")
    ((3, True), ("b'x'", False))
    """
    if value is None or isinstance(value, bool):
        return value, True
    if isinstance(value, float):  # also numpy.float64, which is one
        return float(value), True
    if isinstance(value, int):
        return (int(value), True) if value.bit_length() <= MAX_INTEGER_BITS else (hex(value), False)
    if isinstance(value, str):
        return readable(str.__str__(value)), True
    for name in ("item", "numpy"):
        convert = getattr(value, name, None)
        if callable(convert) and not isinstance(value, type):
            try:
                inner = convert()
            except (TypeError, ValueError, RuntimeError, NotImplementedError):
                continue  # an array of several elements, or a tensor that is not to be had here
            if inner is not value and not isinstance(inner, (list, dict)):
                return scalar(inner)
    if _is_number(value):
        try:
            return float(value), True  # type: ignore[arg-type]
        except (OverflowError, ValueError):
            pass  # beyond the range of a float: its text is stored
    return readable(repr(value)), False


def _is_number(value: object) -> bool:
    import decimal  # only for what is none of the usual types: most processes never need them
    import numbers

    return isinstance(value, (numbers.Real, decimal.Decimal))


def refuse_many(name: str, value: object) -> None:
    """`run.log` takes one value; for several there are other methods."""
    if isinstance(value, (list, range)) or hasattr(value, "__next__"):
        kind = type(value).__name__
        raise UserErrorException(
            f"run.log({name!r}, ...) takes one value and got a {kind}. "
            "Use run.log_list for a list of values, run.log_row or run.log_table for columns."
        )


def scalars(name: str, value: object) -> tuple[list[Scalar], list[object]]:
    """The items of a list metric, and those that had to become strings. Whole numbers beside floats become floats."""
    if isinstance(value, (str, bytes, dict)) or value is None:
        raise AzureMLException(f"The metric {name!r} needs a list of values, not {type(value).__name__}.")
    plain = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(plain, Iterable):
        raise AzureMLException(f"The metric {name!r} needs a list of values, not {type(value).__name__}.")
    items: list[Scalar] = []
    strange: list[object] = []
    for item in plain:
        if isinstance(item, (list, tuple, dict, set, range)):
            raise AzureMLException(
                f"The items of the metric {name!r} must be single values; one of them is a {type(item).__name__}. "
                "Use run.log_table for columns of values."
            )
        stored, same = scalar(item)
        items.append(stored)
        if not same:
            strange.append(item)
    if any(type(item) is float for item in items):
        items = [float(item) if type(item) is int else item for item in items]
    return items, strange


def readable(text: str) -> str:
    """Text that UTF-8 can hold: half characters (from names of files, mostly) are written out as escapes."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text


def step_number(name: str, step: Any) -> tuple[int | None, bool]:
    """The step as a whole number, and whether it was one."""
    if step is None or type(step) is int:
        return step, True
    stored, _ = scalar(step)
    if isinstance(stored, (int, float)):
        try:
            return int(stored), float(stored).is_integer()
        except (OverflowError, ValueError):
            return None, False
    return None, False
