import json
import pickle

import pytest

from runyard.sdk import exceptions
from runyard.sdk.exceptions import AzureMLException, UserErrorException


def test_the_text_holds_class_message_inner_exception_and_error_body() -> None:
    error = UserErrorException("no such script", inner_exception=OSError("gone"), target="script")
    lines = str(error).splitlines()
    assert lines[0].startswith("UserErrorException")
    assert "no such script" in lines[1]
    assert "OSError: gone" in lines[2]
    body = json.loads(str(error)[str(error).index("{") :])
    assert body == {"error": {"code": "UserError", "message": "no such script", "target": "script"}}


def test_an_inner_exception_of_the_sdk_is_one_line() -> None:
    inner = UserErrorException("no such file", inner_exception=OSError("gone"))
    text = str(AzureMLException("it broke", inner_exception=inner))
    assert "  Inner exception: UserErrorException: no such file\n" in text
    assert text.count("no such file") == 1


def test_message_and_inner_exception_can_be_read_alone() -> None:
    inner = ValueError("x")
    error = AzureMLException("it broke", inner_exception=inner)
    assert error.message == "it broke"
    assert error.inner_exception is inner


def test_print_stacktrace_tells_where_it_was_raised(capsys: pytest.CaptureFixture[str]) -> None:
    def deep() -> None:
        raise UserErrorException("no")

    with pytest.raises(UserErrorException) as caught:
        deep()
    caught.value.print_stacktrace()
    assert "in deep" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("child", "parent"),
    [
        ("AuthenticationException", "UserErrorException"),
        ("ModelNotFoundException", "WebserviceException"),
        ("ModelPathNotFoundException", "WebserviceException"),
        ("HyperDriveConfigException", "HyperDriveException"),
        ("HyperDriveScenarioNotSupportedException", "HyperDriveConfigException"),
        ("HyperDriveNotImplementedException", "HyperDriveScenarioNotSupportedException"),
        ("HyperDriveServiceException", "HyperDriveException"),
        ("HyperDriveRehydrateException", "HyperDriveException"),
        ("HyperDriveException", "AzureMLException"),
        ("UserErrorException", "AzureMLException"),
    ],
)
def test_who_stands_under_whom(child: str, parent: str) -> None:
    assert getattr(exceptions, child).__base__ is getattr(exceptions, parent)


def test_the_drawn_tree_names_every_exception() -> None:
    names = {
        name
        for name, value in vars(exceptions).items()
        if isinstance(value, type) and issubclass(value, AzureMLException)
    }
    assert exceptions.__doc__
    assert {name for name in names if name not in exceptions.__doc__} == set()


def test_own_attributes() -> None:
    assert exceptions.WebserviceException("x", status_code=404).status_code == 404
    assert exceptions.WorkspaceException("x", found_multiple=True).found_multiple
    late = exceptions.ParallelRunException("x", code="c", delay_seconds=3)
    assert (late.code, late.delay_seconds) == ("c", 3)


def test_a_service_exception_keeps_the_status_of_the_refusal() -> None:
    class Refused(Exception):
        status = 409

    error = exceptions.ServiceException(Refused("the run goes on"))
    assert error.status_code == 409
    assert "the run goes on" in error.details
    assert isinstance(error.inner_exception, Refused)


def test_an_aggregate_tells_all_of_them() -> None:
    error = exceptions.AzureMLAggregatedException([UserErrorException("one"), OSError("two")])
    assert "UserErrorException: one" in error.message
    assert "OSError: two" in error.message


def test_a_failed_run_says_each_thing_once() -> None:
    document = exceptions.ActivityFailedException(error_details="no disk")
    assert (str(document), document.error_details, document.error) == ("The run has failed: no disk", "no disk", None)
    frames = [{"file": "a.py", "line": n, "function": "f", "code": ""} for n in range(20)]
    error = {
        "code": "UserError",
        "message": "a.py failed with exit code 1: KeyError: 'x'",
        "exception": {"type": "KeyError", "message": "'x'", "frames": frames},
        "exit": {"code": 1, "signal": None, "words": "exit code 1"},
        "help": "Look for 'x'.",
    }
    found = exceptions.ActivityFailedException("{}", error=error, run_id="r_1")
    assert str(found).splitlines() == [
        "Run r_1 has failed: a.py failed with exit code 1: KeyError: 'x'",
        "  a.py:18 in f",
        "  a.py:19 in f",
        "  Look for 'x'.",
        "  `runyard logs r_1` shows its log.",
    ]
    assert found.error == error
    silent = exceptions.ActivityFailedException("", error={}, run_id="r_1")
    assert "nothing was said about the cause" in str(silent)


def test_exceptions_travel_between_processes() -> None:
    for error in (
        UserErrorException(exception_message="x", target="y"),
        exceptions.RunEnvironmentException(),
        exceptions.ActivityFailedException(error_details="{}", error={"message": "m"}, run_id="r_1"),
        exceptions.WebserviceException("x", status_code=500),
    ):
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error)
        assert str(copy) == str(error)
        assert copy.__dict__ == error.__dict__
