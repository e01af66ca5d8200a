"""The error of a run as lines of text: what went wrong comes once, then where, then what to do."""

from __future__ import annotations

from runyard.sdk.run.error import error_lines

FRAMES = [
    {"file": "train.py", "line": 3, "function": "main", "code": "fit(0)"},
    {"file": "model.py", "line": 9, "function": "fit", "code": ""},
]
ERROR = {
    "message": "train.py failed with exit code 1",
    "exception": {"type": "ValueError", "message": "bad\nrate", "frames": FRAMES},
    "exit": {"words": "it was killed by SIGKILL"},
    "help": "Look at line 3.",
}


def test_all_that_is_known() -> None:
    assert list(error_lines(ERROR)) == [
        "train.py failed with exit code 1",
        "train.py:3 in main",
        "    fit(0)",
        "model.py:9 in fit",
        "ValueError: bad",
        "rate",
        "it was killed by SIGKILL",
        "Look at line 3.",
    ]
    assert list(error_lines(ERROR, frames=1))[1] == "model.py:9 in fit"


def test_nothing_is_repeated() -> None:
    message = "ValueError: it was killed by SIGKILL"
    error = {"message": message, "exception": {"type": "ValueError", "message": ""}, "exit": ERROR["exit"]}
    assert list(error_lines(error)) == [message]


def test_an_error_without_anything() -> None:
    assert list(error_lines({})) == []
    assert list(error_lines({"message": None, "exception": None, "exit": None, "help": None})) == []
