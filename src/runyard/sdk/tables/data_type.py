"""`DataType`: the types that `set_column_types` gives to columns; and how headers of delimited files are read."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Mapping, Sequence

from runyard.contracts.data import tables as contract
from runyard.sdk.exceptions import UserErrorException


class PromoteHeadersBehavior(IntEnum):
    """Which files have a line with the names of the columns."""

    NO_HEADERS = 0
    ONLY_FIRST_FILE_HAS_HEADERS = 1
    COMBINE_ALL_FILES_HEADERS = 2
    ALL_FILES_HAVE_SAME_HEADERS = 3


_HEADERS = {
    PromoteHeadersBehavior.NO_HEADERS: contract.NO_HEADERS,
    PromoteHeadersBehavior.ONLY_FIRST_FILE_HAS_HEADERS: contract.FIRST_HEADER,
    PromoteHeadersBehavior.COMBINE_ALL_FILES_HEADERS: contract.ALL_HEADERS,
    PromoteHeadersBehavior.ALL_FILES_HAVE_SAME_HEADERS: contract.SAME_HEADERS,
}


class DataType:
    """The type of a column.

    >>> DataType.to_datetime("%d.%m.%Y")
    DataType.to_datetime(formats=['%d.%m.%Y'])
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = dict(document)

    @staticmethod
    def to_string() -> DataType:
        return DataType({"type": contract.STRING})

    @staticmethod
    def to_long() -> DataType:
        return DataType({"type": contract.INT})

    @staticmethod
    def to_float(decimal_mark: str = ".") -> DataType:
        if decimal_mark not in (".", ","):
            raise ValueError(f"The decimal_mark is '.' or ',', not {decimal_mark!r}.")
        return DataType({"type": contract.FLOAT, "decimal_mark": decimal_mark})

    @staticmethod
    def to_bool() -> DataType:
        return DataType({"type": contract.BOOL})

    @staticmethod
    def to_stream(workspace: Any, escaped: bool = False) -> DataType:
        """Texts that are addresses of files, or paths in a datastore."""
        return DataType({"type": contract.STREAM, "escaped": bool(escaped)})

    @staticmethod
    def to_datetime(formats: str | Sequence[str] | None = None) -> DataType:
        """Dates. Without formats they are worked out from the first rows."""
        if formats is None:
            return DataType({"type": contract.DATETIME})
        listed = [formats] if isinstance(formats, str) else list(formats)
        if not listed or not all(isinstance(each, str) and "%" in each for each in listed):
            raise UserErrorException(f"Formats of dates are texts such as '%Y-%m-%d', not {formats!r}.")
        return DataType({"type": contract.DATETIME, "formats": listed})

    def __repr__(self) -> str:
        named = {"int": "long"}.get(self._document["type"], self._document["type"])
        rest = ", ".join(f"{key}={value!r}" for key, value in self._document.items() if key != "type")
        return f"DataType.to_{named}({rest})"


def column_types(types: Mapping[str, DataType] | None) -> dict[str, dict[str, Any]]:
    """The types that a user set, as a definition has them."""
    found = {}
    for name, type in {} if types is None else types.items():
        if not isinstance(name, str) or not isinstance(type, DataType):
            raise UserErrorException(
                f"set_column_types is a dictionary of types by column: {{'age': DataType.to_long()}}; {type!r} for "
                f"{name!r} is no DataType."
            )
        found[name] = type._document
    return found


def header_setting(header: Any) -> str:
    """How headers are read, from what a user gives: True, False, a PromoteHeadersBehavior or its name."""
    if header is True:
        return contract.SAME_HEADERS
    if header is False:
        return contract.NO_HEADERS
    if isinstance(header, PromoteHeadersBehavior):
        return _HEADERS[header]
    if isinstance(header, str) and header in PromoteHeadersBehavior.__members__:
        return _HEADERS[PromoteHeadersBehavior[header]]
    if isinstance(header, str):
        raise UserErrorException(
            f"{header!r} is no way to read headers: use one of {', '.join(PromoteHeadersBehavior.__members__)}."
        )
    raise AttributeError(f"header is True, False or a PromoteHeadersBehavior, not {header!r}.")


def encoding_setting(encoding: Any) -> str:
    """The encoding that a user names; case does not matter."""
    named = encoding.lower() if isinstance(encoding, str) else ""
    if named not in contract.CODECS:
        raise UserErrorException(f"{encoding!r} is no encoding: use one of {', '.join(sorted(contract.CODECS))}.")
    return named
