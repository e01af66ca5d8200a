"""The sentences that find runs: what they mean, and where they cannot be understood."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.store.runs.query_language import All, Any, BadQuery, Not, Term, Word, parse, uses_archived, uses_metrics


def test_terms_belong_together() -> None:
    found = parse("status:failed metrics.acc>0.9 tag.owner=me")
    assert found == All(
        (
            Term("status", ":", ("failed",)),
            Term("acc", ">", ("0.9",), "metrics", (0.9,)),
            Term("owner", "=", ("me",), "tag"),
        )
    )
    assert parse("status:failed and metrics.acc>0.9 AND tag.owner=me") == found


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("", All(())),
        ("brave", Word("brave")),
        ('"two words"', Word("two words")),
        ("-is:archived", Not(Term("is", ":", ("archived",)))),
        ("not brave", Not(Word("brave"))),
        ("a or b c", Any((Word("a"), All((Word("b"), Word("c")))))),
        ("(a or b) c", All((Any((Word("a"), Word("b"))), Word("c")))),
        ("status:failed,canceled", Term("status", ":", ("failed", "canceled"))),
        ('metrics."val loss"<=-1e-3', Term("val loss", "<=", ("-1e-3",), "metrics", (-0.001,))),
        ("metrics.train/loss.mean>1", Term("train/loss.mean", ">", ("1",), "metrics", (1.0,))),
        ("params.lr=0.1", Term("lr", "=", ("0.1",), "params")),
        ("has:metrics.acc", Term("has", ":", ("acc",), "metrics")),
        ("metrics.acc:*", Term("has", ":", ("acc",), "metrics")),
        ("duration>1h30m", Term("duration", ">", ("1h30m",), None, (5400.0,))),
        ('tag."a\\"b"="c,d"', Term('a"b', "=", ("c,d",), "tag")),
    ],
)
def test_meanings(text: str, meaning: object) -> None:
    assert parse(text) == meaning


@pytest.mark.parametrize(
    ("text", "position", "said"),
    [
        ("statu:failed", 0, "no field 'statu'"),
        ("brave metrics.acc>high", 18, "no number"),
        ("status:", 7, "value is missing"),
        ("(status:failed", 0, "not closed"),
        ("status:failed)", 13, "no '('"),
        ('name:"brave', 5, "not closed"),
        ("is:purple", 3, "no is:purple"),
        ("created>yesterday", 8, "no time"),
        ("age<7 days", 4, ""),
        ("foo.bar=1", 0, "nothing called"),
        ("metrics.>1", 0, "name is missing"),
        ("name>a", 0, "a text"),
        ("a or", 4, "missing beside 'or'"),
        (">1", 0, "where a name belongs"),
        ("x:y z", 0, "no field 'x'"),
    ],
)
def test_what_is_wrong_is_pointed_at(text: str, position: int, said: str) -> None:
    if text == "age<7 days":
        assert parse(text) == All((Term("age", "<", ("7",), None, (7.0,)), Word("days")))
        return
    with pytest.raises(BadQuery) as raised:
        parse(text)
    assert said in raised.value.title
    assert raised.value.detail["position"] == position
    assert raised.value.help


@given(st.text(max_size=200))
def test_any_text_is_understood_or_refused(text: str) -> None:
    try:
        parse(text)
    except BadQuery as error:
        position = error.detail["position"]
        assert isinstance(position, int)
        assert 0 <= position <= len(text)


@pytest.mark.parametrize("text", ["(" * 100_000, "-" * 100_000, "a " * 50_000, '"' * 100_000, "not " * 900, "(" * 3999])
def test_long_texts_are_refused_at_once(text: str) -> None:
    began = time.process_time()
    with pytest.raises(BadQuery):
        parse(text)
    assert time.process_time() - began < 60


def test_archived_runs_are_asked_for() -> None:
    assert uses_archived(parse("a or (b -is:archived)"))
    assert not uses_archived(parse("a or (b is:active) archived"))


def test_metrics_are_asked_for() -> None:
    assert uses_metrics(parse("a or not (b has:metrics.acc)"))
    assert not uses_metrics(parse("a or (b tag.metrics=1)"))
