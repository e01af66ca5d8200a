"""Types as SDK v1 infers them: a column of another type breaks scripts that ran before."""

from __future__ import annotations

import warnings
from datetime import datetime
from typing import Any

import pytest

from runyard.sdk.tables.column_types import NoFit, converter, infer, to_bool, to_datetime, to_float, to_int


@pytest.mark.parametrize(
    ("values", "type"),
    [
        (["true", "False", "Y", "NO"], "bool"),
        (["t", "0", "1"], "bool"),
        (["0", "1"], "int"),
        (["y", "n"], "string"),
        (["on", "off"], "string"),
        (["TrUe"], "string"),
        (["1", "-2", "+3", " 4 ", "007"], "int"),
        (["9223372036854775807", "-9223372036854775808"], "int"),
        (["9223372036854775808"], "float"),
        (["1" * 40], "float"),
        (["1.", ".5", "1e3", "inf", "NaN", "-Infinity", "7"], "float"),
        (["1,234"], "string"),
        (["5%"], "string"),
        (["0x10"], "string"),
        (["1_000"], "string"),
        (["١"], "string"),
        (["NA", "1"], "string"),
        ([None, "1"], "int"),
        ([None], "string"),
        ([], "string"),
        (["", "1"], "string"),
    ],
)
def test_numbers_truths_and_texts(values: list[str | None], type: str) -> None:
    assert infer(values) == {"type": type}


@pytest.mark.parametrize(
    ("values", "formats"),
    [
        (["2020-01-02"], ["iso"]),
        (["2020-01-02 03:04:05", "2020-01-02T03:04:05.123", "2020-01-02T03:04:05+02:00"], ["iso"]),
        (["2020/01/02"], ["%Y/%m/%d"]),
        (["02-Jan-2020", "2020-01-02"], ["iso", "%d-%b-%Y"]),
        (["13/2/2020", "1/2/2020"], ["%d/%m/%Y"]),
        (["1/13/2020"], ["%m/%d/%Y"]),
        (["1/13/2020 3:04 PM", "1/13/2020 3:04:05 am"], ["%m/%d/%Y %I:%M %p", "%m/%d/%Y %I:%M:%S %p"]),
        (["1/13/2020", "13/1/2020"], ["%m/%d/%Y", "%d/%m/%Y"]),
    ],
)
def test_dates(values: list[str], formats: list[str]) -> None:
    assert infer(values) == {"type": "datetime", "formats": formats}


@pytest.mark.parametrize(
    "value",
    [
        *(
            "2020-01-02 03:04",
            "2020-01",
            "10:00:00",
            "Jan 2 2020",
            "01.02.2020",
            "2020-13-01",
            "2020-02-30",
            "01/02/20",
        ),
        *("Thu, 02 Jan 2020 00:00:00 GMT", "31/31/2020", "0000-01-01"),
    ],
)
def test_what_is_no_date_stays_text(value: str) -> None:
    assert infer([value]) == {"type": "string"}


def test_month_or_day_first_is_said_when_it_is_not_known() -> None:
    with pytest.warns(UserWarning, match="column 'when' may be month first"):
        assert infer(["1/2/2020"], "when")["formats"] == ["%m/%d/%Y"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        infer(["2/2/2020"], "when")


def test_texts_become_values() -> None:
    assert (to_int("-0012"), to_int("1.9"), to_int("-1.9"), to_int("1e3")) == (-12, 1, -1, 1000)
    assert (to_float("1"), to_bool("Yes"), to_bool("0")) == (1.0, True, False)
    assert to_datetime("2020-01-02T00:30:00+01:00", ["iso"]) == datetime(2020, 1, 1, 23, 30)
    assert to_datetime("2020-01-02T00:30:00.123456789Z", ["iso"]) == datetime(2020, 1, 2, 0, 30, 0, 123456)
    assert to_datetime("2.1.2020", ["%d.%m.%Y"]) == datetime(2020, 1, 2)
    assert converter({"type": "float", "decimal_mark": ","})("1.234,5") == 1234.5


@pytest.mark.parametrize(
    ("type", "text"),
    [
        ({"type": "int"}, "x"),
        ({"type": "int"}, ""),
        ({"type": "int"}, "9" * 30),
        ({"type": "int"}, "1e400"),
        ({"type": "int"}, "nan"),
        ({"type": "float"}, "1,5"),
        ({"type": "bool"}, "2"),
        ({"type": "datetime", "formats": ["iso"]}, "0001-01-01T00:00:00+23:59"),
        ({"type": "datetime", "formats": ["%Y"]}, "x"),
        ({"type": "datetime"}, "1.1.2020"),
    ],
)
def test_a_text_that_does_not_fit_is_an_error(type: dict[str, Any], text: str) -> None:
    with pytest.raises(NoFit):
        converter(type)(text)
