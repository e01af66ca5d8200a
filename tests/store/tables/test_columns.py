from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from sqlalchemy.dialects import sqlite

from runyard.store.errors import Damaged
from runyard.store.tables import Digest, Document, Moment, clean, fingerprint

DIALECT = sqlite.dialect()


@pytest.mark.parametrize(
    ("text", "stored"), [("plain", "plain"), ("größer", "größer"), ("a\0b", "a\ufffdb"), ("a\ud800b", "a\ufffdb")]
)
def test_text_is_made_such_that_every_database_holds_it(text: str, stored: str) -> None:
    assert clean(text) == stored


def test_fingerprints_tell_texts_apart_and_agree_on_what_is_stored() -> None:
    assert fingerprint("a", "bc") != fingerprint("ab", "c")
    assert fingerprint("a\0") == fingerprint("a\ufffd")
    assert len(fingerprint("x" * 100_000)) == 16


def test_times_survive_to_the_microsecond() -> None:
    then = datetime(2026, 3, 1, 12, 0, 0, 123456, timezone(timedelta(hours=2)))
    assert Moment().process_result_value(Moment().process_bind_param(then, DIALECT), DIALECT) == then


@pytest.mark.parametrize(
    ("kind", "value"), [(Document(), "{half"), (Moment(), "soon"), (Moment(), 2**70), (Digest(), "no bytes")]
)
def test_a_value_that_is_not_what_its_column_holds_is_damage(kind: Document | Moment | Digest, value: object) -> None:
    with pytest.raises(Damaged) as damage:
        kind.process_result_value(value, DIALECT)  # type: ignore[arg-type]
    assert damage.value.code == "database_damaged"
