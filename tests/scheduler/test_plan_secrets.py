"""If these fail, a script gets the name of a password for the password, or a log shows one."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.contracts.secrets import veil
from runyard.scheduler.plan_secrets import reveal
from runyard.store.content.secrets import SecretMissing, Secrets


@pytest.fixture
def secrets(tmp_path: Any) -> Secrets:
    return Secrets(tmp_path / "secrets", "key")


def test_what_was_veiled_is_put_back_but_in_the_environment(secrets: Secrets) -> None:
    launch = {
        "command": "fetch https://me:one@host/",
        "arguments": ["--from", "https://me:two@host/"],
        "environment_variables": {"password": "three", "PLAIN": "x"},
        "environment": {"options": ["--index-url https://me:four@host/simple"]},
        "max_run_duration_seconds": 5,
        "notes": [],
    }
    kept = veil(launch, secrets.keep)
    revealed, values = reveal(kept, secrets.value)
    assert revealed == {**launch, "environment": kept["environment"]}
    assert list(values.values()) == ["me:four"]
    assert next(iter(values)) in kept["environment"]["options"][0]


def test_a_launch_without_secrets_stays_as_it_is(secrets: Secrets) -> None:
    launch = {"command": "echo ${HOME}", "environment": {}}
    assert reveal(launch, secrets.value) == (launch, {})
    assert reveal({}, secrets.value) == ({}, {})


def test_a_secret_that_is_gone_is_said(secrets: Secrets) -> None:
    with pytest.raises(SecretMissing):
        reveal({"arguments": ["${RUNYARD_SECRET_0123}"]}, secrets.value)
