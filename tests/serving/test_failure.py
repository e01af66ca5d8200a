"""If these fail, whoever wrote the script is not told the line that failed, or what to do."""

from __future__ import annotations

import os

from runyard.serving.failure import CannotServe, failure


def test_the_users_line_and_not_that_of_a_package() -> None:
    import json

    try:
        json.loads("{")
    except ValueError as error:
        told = failure(error, os.path.dirname(__file__))
    assert told.type == "JSONDecodeError"
    assert told.file == __file__
    assert "json.loads" in told.traceback.splitlines()[2]
    assert told.line > 0


def test_a_missing_package_comes_with_the_line_to_add() -> None:
    told = failure(ModuleNotFoundError("No module named 'sklearn'", name="sklearn.svm"))
    assert "add_pip_package('scikit-learn')" in told.help


def test_a_cause_is_told_with_the_help_of_whoever_found_it() -> None:
    try:
        try:
            raise OSError("disk")
        except OSError as cause:
            raise CannotServe("The model does not load.", "Try another.") from cause
    except CannotServe as error:
        told = failure(error)
    assert (told.type, told.message, told.help) == ("OSError", "The model does not load.", "Try another.")
    assert "disk" in told.traceback


def test_a_syntax_error_names_its_line() -> None:
    try:
        compile("a = 1\nb =", "score.py", "exec")
    except SyntaxError as error:
        told = failure(error)
    assert (told.file, told.line) == ("score.py", 2)
