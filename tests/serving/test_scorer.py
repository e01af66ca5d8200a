"""If these fail, an error of a script ends the worker, or its owner does not learn of it."""

from __future__ import annotations

from typing import Any

from runyard.serving.http.head import parse
from runyard.serving.http.message import Request
from runyard.serving.scorer import ScriptScorer
from runyard.serving.scripts.script import Script


class Asked:
    def __init__(self, body: bytes, in_full: bool) -> None:
        self.request = Request(parse(b"POST /score HTTP/1.0"), body)
        self.in_full = in_full
        self.prepared: object = None


def test_whatever_a_script_raises_is_an_answer() -> None:
    def run(data: str) -> Any:
        if data == "exit":
            raise SystemExit(1)
        if data == "deep":
            return run(data)
        return 1 / int(data)

    scorer = ScriptScorer(Script(run), __file__.rpartition("/")[0])
    answers = scorer.execute([Asked(body, True) for body in (b"0", b"exit", b"deep", b"4")])
    assert [each.status for each in answers] == [500, 500, 500, 200]
    assert [each.failed for each in answers] == [True, True, True, False]
    assert b"ZeroDivisionError" in answers[0].body
    assert b"test_scorer.py" in answers[0].body
    assert answers[3].seconds is not None
    assert b"Zero" not in scorer.execute([Asked(b"0", False)])[0].body
