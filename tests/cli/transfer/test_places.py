"""Addresses as users name them."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.cli.errors import CommandError
from runyard.cli.transfer import places
from runyard.cli.transfer.records import Summary
from runyard.cli.transfer.rest import MlflowServer


def test_what_an_address_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(places.source_at("https://mlflow.example/x/"), MlflowServer)
    for address in (f"sqlite:///{tmp_path}/none.db", str(tmp_path), f"file://{tmp_path}/none"):
        with pytest.raises(CommandError):
            places.source_at(address)
    with pytest.raises(CommandError, match=r"^A history at postgresql:// is not read directly\.$") as refusal:
        places.source_at("postgresql://me:secret@there/mlflow")
    assert "mlflow server" in refusal.value.help
    for name in ("MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    assert places.authorization() is None
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "me")
    assert str(places.authorization()).startswith("Basic ")
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "t")
    assert places.authorization() == "Bearer t"


def test_a_summary_names_what_was_lost(capsys: pytest.CaptureFixture[str]) -> None:
    places.report(Summary(runs=2, lost=[f"Run {number} is lost." for number in range(25)]), as_json=False)
    said = capsys.readouterr().out
    assert "2 runs" in said
    assert "Run 19 is lost." in said
    assert "and 5 more" in said
    places.report(Summary(runs=2), as_json=True)
    assert '"runs": 2' in capsys.readouterr().out
    places.teller(False)("going on")
    places.teller(True)("not said")
    assert capsys.readouterr().err == "going on\n"
