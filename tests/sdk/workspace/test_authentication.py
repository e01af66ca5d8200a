import datetime
from pathlib import Path
from typing import Any

import pytest

from runyard.contracts.home import write_private
from runyard.sdk.exceptions import AuthenticationException
from runyard.sdk.workspace.authentication import (
    AbstractAuthentication,
    ArmTokenAuthentication,
    AzureCliAuthentication,
    AzureMLTokenAuthentication,
    InteractiveLoginAuthentication,
    ServicePrincipalAuthentication,
    TokenAuthentication,
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUNYARD_HOME", str(tmp_path))
    for name in ("RUNYARD_TOKEN", "AZUREML_RUN_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize(
    "login",
    [
        InteractiveLoginAuthentication(force=True, tenant_id="t"),
        AzureCliAuthentication(),
        ServicePrincipalAuthentication("t", "id", "password"),
    ],
)
def test_a_login_answers_with_runyards_own_token(
    login: AbstractAuthentication, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(AuthenticationException, match="runyard up"):
        login.get_authentication_header()
    write_private(home / "token", "mine\n")
    assert login.get_authentication_header() == {"Authorization": "Bearer mine"}
    monkeypatch.setenv("AZUREML_RUN_TOKEN", "the-runs")
    assert login.get_token("https://management.example/.default").token == "the-runs"
    monkeypatch.setenv("RUNYARD_TOKEN", "the-operators")
    assert login.get_token().token == "the-operators"


def test_a_service_principals_password_is_not_kept() -> None:
    login = ServicePrincipalAuthentication("t", "id", "very-secret")
    assert (login.tenant_id, login.service_principal_id) == ("t", "id")
    assert "very-secret" not in repr(vars(login))


def test_a_token_that_is_brought_is_the_answer() -> None:
    login = ArmTokenAuthentication("one")
    assert login.get_authentication_header() == {"Authorization": "Bearer one"}
    login.update_arm_access_token("two")
    assert login.get_token().token == "two"


def test_a_function_is_asked_each_time() -> None:
    asked: list[str] = []

    def give(audience: str) -> str:
        asked.append(audience)
        return f"token-{len(asked)}"

    login = TokenAuthentication(give)
    assert login.get_token("AZURE_ML").token == "token-1"
    assert login.get_authentication_header() == {"Authorization": "Bearer token-2"}
    assert asked[0] == "AZURE_ML"


def test_the_token_of_a_run() -> None:
    end = datetime.datetime(2030, 1, 1, tzinfo=datetime.timezone.utc)
    login = AzureMLTokenAuthentication.create("t", end, "host", "s", "g", "w", "e", "r")
    assert (login.token, login.expiry_time, login.run_id) == ("t", end, "r")
    assert login.get_token().expires_on == int(end.timestamp())
    login.set_token("u", None)
    assert login.get_authentication_header() == {"Authorization": "Bearer u"}
    assert login.get_token().token == "u"


def test_a_session_carries_the_header() -> None:
    class Session:
        def __init__(self) -> None:
            self.headers: dict[str, Any] = {}

    session = Session()
    assert ArmTokenAuthentication("one").signed_session(session) is session
    assert session.headers == {"Authorization": "Bearer one"}
