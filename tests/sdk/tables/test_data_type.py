"""Settings of tables as users write them."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.tables.data_type import (
    DataType,
    PromoteHeadersBehavior,
    column_types,
    encoding_setting,
    header_setting,
)


def test_types_become_documents() -> None:
    given = {"a": DataType.to_long(), "b": DataType.to_float(","), "c": DataType.to_datetime(["%Y", "%d.%m.%Y"])}
    assert column_types(given) == {
        "a": {"type": "int"},
        "b": {"type": "float", "decimal_mark": ","},
        "c": {"type": "datetime", "formats": ["%Y", "%d.%m.%Y"]},
    }
    assert column_types(None) == {}
    assert repr(DataType.to_long()) == "DataType.to_long()"
    assert DataType.to_stream(None)._document["type"] == "stream"
    assert [DataType.to_string()._document, DataType.to_bool()._document] == [{"type": "string"}, {"type": "bool"}]


def test_other_types_are_refused() -> None:
    with pytest.raises(UserErrorException, match=r"DataType\.to_long"):
        column_types({"a": int})  # type: ignore[dict-item]
    with pytest.raises(AttributeError):
        column_types(["a"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="decimal_mark"):
        DataType.to_float(";")
    with pytest.raises(UserErrorException, match="Formats of dates"):
        DataType.to_datetime("yyyy")


@pytest.mark.parametrize(
    ("given", "setting"),
    [
        (True, "same"),
        (False, "none"),
        (PromoteHeadersBehavior.COMBINE_ALL_FILES_HEADERS, "combined"),
        ("ONLY_FIRST_FILE_HAS_HEADERS", "first"),
    ],
)
def test_headers(given: Any, setting: str) -> None:
    assert header_setting(given) == setting


def test_other_headers_and_encodings_are_refused() -> None:
    with pytest.raises(UserErrorException, match="NO_HEADERS"):
        header_setting("first")
    for given in (None, 0):
        with pytest.raises(AttributeError):
            header_setting(given)
    assert encoding_setting("UTF8") == "utf8"
    for encoding in ("utf-8", None):
        with pytest.raises(UserErrorException, match="latin1"):
            encoding_setting(encoding)
