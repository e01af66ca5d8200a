"""If these fail, scripts around the command see another exit code, or a person reads a traceback."""

from __future__ import annotations

import json

import pytest

from runyard.cli import errors
from runyard.cli.errors import CommandError
from runyard.client.http import ClientProblem
from runyard.contracts import names
from runyard.sdk.exceptions import UserErrorException


def problem(code: str, status: int) -> ClientProblem:
    return ClientProblem(code, "It is wrong.", "Do this.", status, {"run": "r"})


@pytest.mark.parametrize(
    ("code", "status", "exit_code"),
    [
        ("run_not_found", 404, errors.NOT_FOUND),
        ("server_unreachable", 0, errors.UNREACHABLE),
        ("not_ready", 503, errors.UNREACHABLE),
        ("run_active", 409, errors.FAILED),
    ],
)
def test_a_refusal_of_the_server_has_an_exit_code(code: str, status: int, exit_code: int) -> None:
    explained = errors.explain(problem(code, status))
    assert (explained.exit_code, explained.code, explained.title) == (exit_code, code, "It is wrong.")
    assert (explained.help, explained.detail) == ("Do this.", {"run": "r"})


def test_an_error_of_the_sdk_is_explained_by_its_cause() -> None:
    wrapped = UserErrorException("It is wrong.")
    wrapped.__cause__ = problem("run_not_found", 404)
    assert errors.explain(wrapped).exit_code == errors.NOT_FOUND
    assert errors.explain(UserErrorException("Refused.")).code == "refused"


def test_other_errors_name_what_they_are_about() -> None:
    own = CommandError("Mine.")
    assert errors.explain(own) is own
    assert errors.explain(FileNotFoundError(2, "No such file", "a.py")).title == "No such file: a.py"
    assert errors.explain(OSError("broken")).title == "broken"
    with pytest.raises(names.BadName) as bad:
        names.check("run", "../up")
    assert errors.explain(bad.value).code == "bad_name"
    unexpected = errors.explain(ZeroDivisionError("by zero"))
    assert (unexpected.title, unexpected.code) == ("ZeroDivisionError: by zero", "unexpected")
    assert "RUNYARD_DEBUG=1" in unexpected.help


def test_an_error_is_two_lines_for_a_person_and_one_document_for_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    error = CommandError("It is wrong.", "Do this.", errors.NOT_FOUND, "run_not_found", {"run": "r"})
    errors.show(error, as_json=False)
    assert capsys.readouterr().err == "Error: It is wrong.\nDo this.\n"
    errors.show(error, as_json=True)
    document = json.loads(capsys.readouterr().err)["error"]
    assert document == {"code": "run_not_found", "title": "It is wrong.", "help": "Do this.", "detail": {"run": "r"}}


@pytest.mark.parametrize(("value", "debugging"), [("", False), ("0", False), ("1", True)])
def test_tracebacks_are_for_those_who_set_the_variable(
    monkeypatch: pytest.MonkeyPatch, value: str, debugging: bool
) -> None:
    monkeypatch.setenv("RUNYARD_DEBUG", value)
    assert errors.debugging() is debugging
