from __future__ import annotations

import pytest

from runyard.contracts import journal
from runyard.store.errors import Refused
from runyard.store.metrics import batches, chunks
from runyard.store.metrics.batches import SeriesName

GOOD = journal.line("v", "loss", 0.5, 1.0, None)


def test_records_are_sorted_by_series_in_the_order_in_which_they_came() -> None:
    batch = batches.of(
        [
            ["t", "table", {"a": [1]}, 1.0],
            ["v", "loss", 0.5, 1.0, None],
            ["v", "acc", 1, 1.0, 3],
            ["l", "loss", [0.25, 0.125], 2.0],
            ["a", "plot", "azureml.v2.image", "./plot.png", 3.0],
            ["v", "loss", 0.0, 3.0, 7],
            ["l", "empty", [], 1.0],
            ["t", "nothing", {}, 1.0],
            ["f", "file", "spool"],
            ["e", "completed", None],
        ]
    )
    assert list(batch.series) == [
        SeriesName("table", "table"),
        SeriesName("loss", "values"),
        SeriesName("acc", "values"),
        SeriesName("plot", "file", "azureml.v2.image"),
    ]
    loss = batch.series[SeriesName("loss", "values")]
    assert chunks.values_of(loss) == [0.5, 0.25, 0.125, 0.0]
    assert list(chunks.times_of(loss)) == [1.0, 2.0, 2.0, 3.0]
    assert chunks.steps_of(loss) == [None, None, None, 7]
    assert chunks.values_of(batch.series[SeriesName("plot", "file", "azureml.v2.image")]) == ["plot.png"]


def test_labels_follow_the_order_of_the_records() -> None:
    batch = batches.of(
        [
            ["g", {"a": "1", "b": "1", "n": 2}],
            ["G", ["a", "never"]],
            ["g", {"b": "2", "c": None}],
            ["p", {"x": "first"}],
            ["p", {"x": "second", "y": None}],
            ["G", ["c"]],
            ["g", {"a": "again"}],
        ]
    )
    assert batch.tags == {"a": "again", "b": "2", "n": "2"}
    assert batch.untagged == {"never", "c"}
    assert batch.properties == {"x": "first", "y": None}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"not json",
        b"{}",
        b"[]",
        b"null",
        b'"vabcd"',
        b'["v","x",1.0]',
        b'["v","x",1.0,1.0,null,1]',
        b'["v",1,1.0,1.0,null]',
        b'["v",["x"],1.0,1.0,null]',
        b'["v","x",[1],1.0,null]',
        b'["v","x",{"f":"big"},1.0,null]',
        b'["v","x",1.0,"now",null]',
        b'["v","x",1.0,1.0,1.5]',
        b'["v","x",NaN,1.0,null]',
        b'["l","x",1,1.0]',
        b'["l","x",{"a":1},1.0]',
        b'["t","x",{"a":[1],"b":[1,2]},1.0]',
        b'["t","x",{"a":1},1.0]',
        b'["t","x",{"a":[[1]]},1.0]',
        b'["t","x",[1],1.0]',
        b'["a","x","type","../out",1.0]',
        b'["a","x",null,"file",1.0]',
        b'["d","x",null]',
        b'["g",{"a":[1]}]',
        b'["g",["a"]]',
        b'["G","a",1]',
        b'["G",[1]]',
        b'["p",null]',
        b'["z",1]',
        b'["v","x",1.0,1.0,null],["v","x",1.0,1.0,null]',
        b"[" * 3000,
    ],
)
def test_a_bad_line_is_named(line: bytes) -> None:
    lines = GOOD + GOOD + line + b"\n" + GOOD
    with pytest.raises(Refused) as caught:
        batches.parse(lines, 1000)
    assert caught.value.code == "bad_journal"
    assert caught.value.detail == {"line": 3, "offset": 1000 + 2 * len(GOOD)}
    assert "Line 3 " in caught.value.title


def test_lines_that_make_sense_only_together_are_bad() -> None:
    with pytest.raises(Refused, match="Line 2 "):
        batches.parse(GOOD + b'["v","x",1.0\n1.0,null]\n', 0)


def test_lines_longer_than_a_block_are_read() -> None:
    long = journal.line("v", "text", "x" * 3 * batches.BLOCK, 1.0, None)
    batch = batches.parse(GOOD + long + GOOD * 3000 + long, 0)
    assert {name.name: chunk.count for name, chunk in batch.series.items()} == {"loss": 3001, "text": 2}


@pytest.mark.parametrize(
    "line",
    [
        b'["v","x",1.0,1e999,null]\n',
        b'["l","x",[1,1e999],1.0]\n',
        b'["l","x",["text",-1e999],1.0]\n',
        b'["t","x",{"a":[1e999]},1.0]\n',
    ],
)
def test_a_number_that_json_could_not_give_back_is_refused(line: bytes) -> None:
    with pytest.raises(Refused, match="Line 2"):
        batches.parse(GOOD + line, 0)


@pytest.mark.parametrize(
    "line",
    [
        *(b'["v","a",1.0,2.0,3]', b'["v","a",-1,2.0,null]', b'["v","a",123456789012345678901234567890,2.0,1]'),
        *(b'["v","a",true,2.0,1]', b'["v","a","x",2.0,1]', b'["v","a",null,2.0,1]', b'["v","a",{"f":"nan"},2.0,1]'),
        *(b'["v","a",1.0,2,1]', b'["v","a",1.0,1e999,1]', b'["v","a",1e999,2.0,1]', b'["v","a",1.0,NaN,1]'),
        *(
            b'["v","a",1.0,2.0,9223372036854775808]',
            b'["v","a",1.0,2.0,-9223372036854775808]',
            b'["v","a",1.0,2.0,1.5]',
        ),
        *(b'["v","a",1.0,2.0,true]', b'["v","a",1.0,2.0]', b'["v","a",1.0,2.0,1,2]', b'["v",7,1.0,2.0,1]'),
        *(b'["v",null,1.0,2.0,1]', b'["l","a",[1],2.0]', b'["g",{"a":"b"}]', b'["d","a","b"]', b'["f","a","b"]'),
        *(
            b"[]",
            b"{}",
            b"null",
            b"3",
            b'"v"',
            b"",
            b"no",
            b'["v","a",1.0,2.0,1],["v","a",1.0,2.0,1]',
            b'["v","\\ud800",1,2.0,1]',
        ),
    ],
)
def test_what_passes_for_points_can_be_parsed(line: bytes) -> None:
    """Else it would be confirmed, and could never become part of a series."""
    for lines in (line + b"\n", GOOD + line + b"\n" + GOOD):
        if not batches.are_points(lines):
            continue
        batch = batches.parse(lines, 0)
        assert {name.kind for name in batch.series} == {"values"}
        assert sum(chunk.count for chunk in batch.series.values()) == lines.count(b"\n")


def test_plain_points_are_seen_as_such() -> None:
    assert batches.are_points(GOOD * 3)
    assert batches.are_points(b'["v","a",1,2.0,null]\n["v","b",-0.5,2.0,-7]\n')
    assert not batches.are_points(b'["v","a",{"f":"nan"},2.0,1]\n')
