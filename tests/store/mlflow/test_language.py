"""MLflow's filters: what they mean, where they are wrong, and that no text is slow."""

from __future__ import annotations

import pytest

from runyard.store.errors import Refused
from runyard.store.mlflow.language import Attributes, Condition, Order, parse_filter, parse_orders

ATTRIBUTES = Attributes({"run_id": "run_id", "start_time": "start_time"}, frozenset({"start_time"}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("metrics.acc > 0.9", [("metric", "acc", ">", 0.9)]),
        (
            "metric.`a b`<=-1e3 AND params.\"x.y\" = 'it\\'s'",
            [("metric", "a b", "<=", -1000.0), ("parameter", "x.y", "=", "it's")],
        ),
        ('tags.mlflow.user ilike "%X"', [("tag", "mlflow.user", "ILIKE", "%X")]),
        (
            "start_time >= 5 and attributes.run_id IN ('a', 'b')",
            [("attribute", "start_time", ">=", 5.0), ("attribute", "run_id", "IN", ("a", "b"))],
        ),
        ("run_id not in ('a')", [("attribute", "run_id", "NOT IN", ("a",))]),
        (
            "params.a IS NULL and tag.b is not null",
            [("parameter", "a", "IS NULL", None), ("tag", "b", "IS NOT NULL", None)],
        ),
        ("dataset.name <> 'x'", [("dataset", "name", "!=", "x")]),
        ("  ", []),
    ],
)
def test_what_a_filter_means(text: str, expected: list[tuple[object, ...]]) -> None:
    found = parse_filter(text, ATTRIBUTES)
    assert [(each.kind, each.key, each.sign, each.value) for each in found] == expected


@pytest.mark.parametrize(
    ("text", "character", "why"),
    [
        ("metrics.acc >", 14, "too early"),
        ("metrics.acc ~ 3", 13, "no comparison"),
        ("metrics.acc > 'x'", 15, "compared with a number"),
        ("metrics.acc LIKE 'x'", 13, "not by LIKE"),
        ("params.lr = 0.1", 13, "text in quotes"),
        ("metrics.a > 1 or metrics.b > 2", 15, "`and`"),
        ("nothing = 'x'", 1, "no attribute"),
        ("foo.bar = 'x'", 1, "'foo'"),
        ("run_id IN ('a'", 15, "too early"),
        ("params.a IS 3", 13, "NULL"),
        ("params.a = 'open", 12, "cannot be read"),
        (" and ".join(["metrics.a > 1"] * 102), 1813, "100 conditions"),
    ],
    ids=range(12),
)
def test_where_a_filter_is_wrong(text: str, character: int, why: str) -> None:
    with pytest.raises(Refused, match=f"at character {character}") as refusal:
        parse_filter(text, ATTRIBUTES)
    assert why in str(refusal.value)
    assert refusal.value.detail["position"] == character


@pytest.mark.parametrize("piece", ["(", "'", '"', "`", "\\", " ", "a", "metrics.a > 1 and ", "a.", "=", "'\\"])
def test_long_texts_are_refused(piece: str) -> None:
    with pytest.raises(Refused) as refusal:
        parse_filter(piece * 100_000 + "!", ATTRIBUTES)
    assert len(str(refusal.value)) < 2000


def test_orders() -> None:
    found = parse_orders(["metrics.acc DESC", "start_time", "params.`x y` asc"], ATTRIBUTES)
    assert found == [
        Order("metric", "acc", True),
        Order("attribute", "start_time", False),
        Order("parameter", "x y", False),
    ]
    for wrong in ("metrics.acc SIDEWAYS", "metrics.acc DESC ASC", ""):
        with pytest.raises(Refused, match="The order"):
            parse_orders([wrong], ATTRIBUTES)
    assert parse_filter("metrics.a = 1", ATTRIBUTES) == [Condition("metric", "a", "=", 1.0, 0)]
