"""The format of journals: SDK, node runner and server read what each other wrote, NaN and odd names included."""

from __future__ import annotations

import json
import math

import pytest

from runyard.contracts import journal


@pytest.mark.parametrize("value", [0.1, -0.0, 1e300, 5e-324, math.inf, -math.inf, math.nan])
def test_floats_survive(value: float) -> None:
    read = journal.unpack_value(json.loads(journal.encode_float(value)))
    assert repr(read) == repr(value)
    assert repr(journal.unpack_value(journal.pack_value(value))) == repr(value)


@pytest.mark.parametrize("value", [3, "nan", True, None, 2.5])
def test_what_json_holds_is_left_as_it_is(value: object) -> None:
    assert journal.pack_value(value) is value
    assert journal.unpack_value(value) is value


def test_a_float_of_another_type_is_written_as_a_number() -> None:
    class Loss(float):
        def __repr__(self) -> str:
            return "Loss"

    assert journal.encode_float(Loss(0.5)) == "0.5"
    assert journal.pack_value(Loss(math.inf)) == {"f": "inf"}


def test_a_record_is_one_line() -> None:
    text = journal.line(journal.VALUE, "löss\n\udc80", 1, 2.5, None)
    assert text.endswith(b"\n")
    assert text.count(b"\n") == 1
    assert json.loads(text.decode("utf-8", "surrogatepass")) == ["v", "löss\n\udc80", 1, 2.5, None]
    with pytest.raises(ValueError, match="JSON"):
        journal.line(journal.VALUE, "loss", math.nan)


@pytest.mark.parametrize("run_id", ["exp_1", "a@b", "a.b.jsonl"])
@pytest.mark.parametrize("rank", [None, 0, 123])
def test_file_names_tell_run_and_rank(run_id: str, rank: int | None) -> None:
    writer = journal.writer_name(rank, "1234-5f6a")
    assert journal.parse_file_name(journal.file_name(run_id, writer)) == (run_id, writer)
    assert journal.rank_of(writer) == rank


@pytest.mark.parametrize("name", ["", "x", "run@writer", "run@writer.ack", "@writer.jsonl", "run@.jsonl", "run.jsonl"])
def test_other_files_are_no_journals(name: str) -> None:
    with pytest.raises(ValueError, match="is not a journal"):
        journal.parse_file_name(name)


@pytest.mark.parametrize("writer", ["rank-1", "rank1", "ranker3-x", "rank1234567890-x", "rank٣-x"])
def test_writers_without_a_rank(writer: str) -> None:
    assert journal.rank_of(writer) is None
