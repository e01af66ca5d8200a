"""What a failed run shows of its exception is read out of its log: the tests hold the many shapes of that text."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from runyard.node.outcome.tracebacks import Frame, find_last, user_frames

PLAIN = """\
epoch 1
Traceback (most recent call last):
  File "/w/train.py", line 9, in <module>
    main()
  File "/w/train.py", line 6, in main
    return 1 / 0
           ~~^~~
ZeroDivisionError: division by zero
"""


def test_the_exception_and_its_frames() -> None:
    trace = find_last(PLAIN)
    assert trace is not None
    assert (trace.type, trace.message) == ("ZeroDivisionError", "division by zero")
    assert trace.frames == [
        Frame("/w/train.py", 9, "<module>", "main()"),
        Frame("/w/train.py", 6, "main", "return 1 / 0"),
    ]


@pytest.mark.parametrize("log", ["", "all is well\n", "Traceback (most recent call last):\n", "ValueError: alone\n"])
def test_no_traceback(log: str) -> None:
    assert find_last(log) is None


def test_a_message_of_many_lines() -> None:
    log = PLAIN.replace("division by zero", "first\n  second\nthird")
    trace = find_last(log)
    assert trace is not None
    assert trace.message == "first\n  second\nthird"


def test_output_after_the_traceback_is_no_part_of_the_message() -> None:
    for after in ("\nsaving the model\n", "2026-11-15 19:30:00 closing\n", "INFO: bye\n", "[WARNING] late\n"):
        trace = find_last(PLAIN + after)
        assert trace is not None
        assert trace.message == "division by zero"


def test_a_progress_bar_on_the_line_of_the_header() -> None:
    trace = find_last(" 50%|#####     | 1/2 [00:01<00:01]" + PLAIN.partition("\n")[2])
    assert trace is not None
    assert trace.type == "ZeroDivisionError"
    assert len(trace.frames) == 2


def test_a_prefix_on_every_line() -> None:
    log = "".join(f"[rank0]: {line}\n" for line in PLAIN.splitlines()[1:]) + "[rank1]: waiting\n"
    trace = find_last(log)
    assert trace is not None
    assert trace.message == "division by zero"
    assert trace.frames[-1].function == "main"


def test_of_a_chain_the_last_one_counts() -> None:
    for words in (
        "During handling of the above exception, another exception occurred:",
        "The above exception was the direct cause of the following exception:",
    ):
        second = PLAIN.replace("ZeroDivisionError: division by zero", "RuntimeError: gave up").partition("\n")[2]
        trace = find_last(f"{PLAIN}\n{words}\n\n{second}")
        assert trace is not None
        assert (trace.type, trace.message) == ("RuntimeError", "gave up")
        assert len(trace.frames) == 2


def test_what_python_ignores_did_not_end_the_process() -> None:
    ignored = (
        "Exception ignored in: <function X.__del__ at 0x7>\nTraceback (most recent call last):\n"
        '  File "x.py", line 1, in __del__\nOSError: closed\n'
    )
    trace = find_last(PLAIN + ignored)
    assert trace is not None
    assert trace.type == "ZeroDivisionError"
    assert find_last(ignored) is None


def test_a_thread_counts_only_when_there_is_nothing_else() -> None:
    of_thread = "Exception in thread Thread-1:\n" + PLAIN.partition("\n")[2].replace("ZeroDivisionError", "KeyError")
    trace = find_last(PLAIN + of_thread)
    assert trace is not None
    assert trace.type == "ZeroDivisionError"
    trace = find_last(of_thread)
    assert trace is not None
    assert trace.type == "KeyError"


def test_lines_of_other_processes_in_between() -> None:
    log = PLAIN.replace("ZeroDivisionError", "Done with shard 3\nworker 2 ready\nZeroDivisionError")
    trace = find_last(log)
    assert trace is not None
    assert trace.type == "ZeroDivisionError"


def test_a_traceback_that_breaks_off() -> None:
    assert find_last(PLAIN.rpartition("ZeroDivisionError")[0] + "one\ntwo\nthree\nfour\nresult: 5\n") is None


def test_an_exception_group_names_what_it_holds() -> None:
    log = dedent(
        """\
          + Exception Group Traceback (most recent call last):
          |   File "/w/train.py", line 8, in <module>
          |     raise ExceptionGroup("many", [one, two])
          | ExceptionGroup: many (2 sub-exceptions)
          +-+---------------- 1 ----------------
            | Traceback (most recent call last):
            |   File "/w/train.py", line 2, in f
            |     raise ValueError("first")
            | ValueError: first
            +---------------- 2 ----------------
            | TypeError: second
            +------------------------------------
        """
    )
    trace = find_last("  " + log.replace("\n", "\n  "))
    assert trace is not None
    assert trace.type == "ExceptionGroup"
    assert trace.message == "many (2 sub-exceptions)\n- ValueError: first\n- TypeError: second"
    assert trace.frames == [Frame("/w/train.py", 8, "<module>", 'raise ExceptionGroup("many", [one, two])')]


SCRIPTS = {
    "assert 1 == 2": ("AssertionError", ""),
    "{}['x']": ("KeyError", "'x'"),
    "x = = 1": ("SyntaxError", "invalid syntax"),
    "if True:\nx = 1": ("IndentationError", "expected an indented block after 'if' statement on line 1"),
    "exec('1 +')": ("SyntaxError", "invalid syntax"),
    "class Mine(Exception): pass\nraise Mine('a: b')": ("Mine", "a: b"),
    "def f():\n class Inner(Exception): pass\n raise Inner\nf()": ("f.<locals>.Inner", ""),
    "import json; json.loads('{')": (
        "json.decoder.JSONDecodeError",
        "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
    ),
    "import struct; struct.pack('b', 1000)": ("struct.error", "byte format requires -128 <= number <= 127"),
    "raise ValueError('first\\nsecond')": ("ValueError", "first\nsecond"),
    "try:\n 1/0\nexcept ZeroDivisionError as e:\n raise ValueError('v') from e": ("ValueError", "v"),
    "def f(): f()\nf()": ("RecursionError", "maximum recursion depth exceeded"),
    "raise KeyboardInterrupt": ("KeyboardInterrupt", ""),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_this_python_prints(script: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(script)
    result = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert result.returncode
    trace = find_last(result.stderr)
    assert trace is not None
    assert (trace.type, trace.message) == SCRIPTS[script]
    frames = user_frames(trace.frames, str(tmp_path))
    if "json" not in script:
        assert frames[-1].file in ("train.py", "<string>")
    assert frames[0].line >= 1


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exception groups came with Python 3.11")
def test_the_group_that_this_python_prints(tmp_path: Path) -> None:
    script = "raise ExceptionGroup('g', [ValueError('a'), ExceptionGroup('h', [KeyError('b')])])"
    result = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    trace = find_last(result.stderr)
    assert trace is not None
    assert trace.type == "ExceptionGroup"
    assert "- ValueError: a" in trace.message
    assert "- KeyError: 'b'" in trace.message


def test_frames_are_those_of_the_users_code() -> None:
    frames = [
        Frame("/w/train.py", 1, "<module>", ""),
        Frame("/usr/lib/python3/site-packages/torch/nn.py", 2, "forward", ""),
        Frame("/w/lib/model.py", 3, "loss", ""),
        Frame("/w/venv/lib/python3.11/site-packages/numpy/x.py", 4, "dot", ""),
        Frame("<frozen importlib>", 5, "load", ""),
    ]
    assert [(f.file, f.line) for f in user_frames(frames, "/w")] == [("train.py", 1), ("lib/model.py", 3)]


def test_frames_of_libraries_when_there_is_nothing_else() -> None:
    frames = [Frame("/usr/lib/python3/site-packages/torch/run.py", line, "f", "") for line in range(30)]
    assert [frame.line for frame in user_frames(frames, "/w")] == list(range(20, 30))
