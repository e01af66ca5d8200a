"""Every record of a journal is delivered once, and what it announces is there before it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runyard.contracts import journal as contract
from runyard.node.delivery.journals import End, Journals
from runyard.node.delivery.retrying_client import RetryingClient

if TYPE_CHECKING:
    from tests.node.conftest import Courier, RunOnServer


@pytest.fixture
def client(run: RunOnServer, tmp_path: Path) -> RetryingClient:
    return run.client(tmp_path)


def write(telemetry: Path, run_id: str, *records: Any, writer: str = "1") -> Path:
    path = telemetry / "journal" / contract.file_name(run_id, writer)
    with open(path, "ab") as file:
        for record in records:
            file.write(record if isinstance(record, bytes) else contract.line(*record))
    return path


def value(number: float) -> tuple[Any, ...]:
    return (contract.VALUE, "loss", number, 1.0, None)


def test_records_arrive_as_they_are_written(
    client: RetryingClient, courier: Courier, run: RunOnServer, telemetry: Path
) -> None:
    journals = Journals(client, telemetry)
    assert not courier.send_new(journals)
    for number in range(3):
        path = write(telemetry, run.id, value(number))
        assert courier.send_new(journals)
        assert int(path.with_suffix(".ack").read_text()) == path.stat().st_size
    assert run.metric("loss") == [0, 1, 2]


def test_a_line_that_is_not_finished_waits(
    client: RetryingClient, courier: Courier, run: RunOnServer, telemetry: Path
) -> None:
    line = contract.line(*value(2))
    write(telemetry, run.id, value(1), line[:9])
    journals = Journals(client, telemetry)
    courier.send_rest(journals)
    assert run.metric("loss") == [1]
    write(telemetry, run.id, line[9:])
    courier.send_rest(journals)
    assert run.metric("loss") == [1, 2]


def test_many_records_and_one_that_is_longer_than_a_batch(
    client: RetryingClient, courier: Courier, run: RunOnServer, telemetry: Path
) -> None:
    long = (contract.LIST, "list", list(range(400_000)), 1.0)
    write(telemetry, run.id, *[value(number) for number in range(60_000)], long, value(60_000))
    courier.send_rest(Journals(client, telemetry))
    assert run.metric("loss") == list(range(60_001))
    assert run.metric("list") == list(range(400_000))


def test_what_was_delivered_before_is_not_delivered_again(
    client: RetryingClient, courier: Courier, run: RunOnServer, telemetry: Path
) -> None:
    path = write(telemetry, run.id, value(1))
    courier.send_rest(Journals(client, telemetry))
    path.with_suffix(".ack").unlink()  # the shipper died after the server's answer
    write(telemetry, run.id, value(2))
    courier.send_rest(Journals(client, telemetry))
    assert run.metric("loss") == [1, 2]


@pytest.mark.parametrize("text", ["", "x", "-5", "3", "1" * 5_000, "99999999999999999999", "100000", "[1]"])
def test_an_acknowledgement_that_cannot_be_right_loses_nothing(
    client: RetryingClient, courier: Courier, run: RunOnServer, telemetry: Path, text: str
) -> None:
    path = write(telemetry, run.id, value(1), value(2))
    path.with_suffix(".ack").write_text(text)
    courier.send_rest(Journals(client, telemetry))
    assert run.metric("loss") == [1, 2]


def test_an_acknowledgement_that_goes_too_far(
    client: RetryingClient, courier: Courier, run: RunOnServer, telemetry: Path
) -> None:
    path = write(telemetry, run.id, value(1), value(2))
    path.with_suffix(".ack").write_text(str(len(contract.line(*value(1)))))
    courier.send_rest(Journals(client, telemetry))
    assert run.metric("loss") == [1, 2], "the server had none of it, as its answer shows"


def test_one_bad_record_costs_only_itself(
    client: RetryingClient, courier: Courier, run: RunOnServer, telemetry: Path
) -> None:
    records: list[Any] = [value(number) for number in range(100)]
    records[37] = b'["v","loss",0.5["v","loss",0.5,1.0,null]\n'
    records[80] = b"\n"
    write(telemetry, run.id, *records)
    journals = Journals(client, telemetry)
    courier.send_rest(journals)
    write(telemetry, run.id, value(100))
    courier.send_rest(journals)
    delivered = run.metric("loss")
    lost = {37, 80, 81}  # an empty line is too short to be replaced alone: one beside it goes with it
    assert set(range(101)) - set(delivered) <= lost | {79}
    assert delivered == sorted(delivered)
    assert journals.warnings


def test_a_file_is_there_before_the_record_that_names_it(
    client: RetryingClient, courier: Courier, run: RunOnServer, telemetry: Path
) -> None:
    (telemetry / "spool" / "s1").write_bytes(b"png")
    image = (contract.ARTIFACT, "picture", "azureml.v2.image", "pictures/ä 1.png", 1.0)
    write(telemetry, run.id, (contract.FILE, "pictures/ä 1.png", "s1"), image)
    courier.send_rest(Journals(client, telemetry))
    assert run.read("pictures/ä 1.png") == b"png"
    assert run.metric("picture") == ["pictures/ä 1.png"]
    assert not list((telemetry / "spool").iterdir())


@pytest.mark.parametrize("record", [("f", "x.png", "never-written"), ("f", "../x.png", "s1"), ("f", "x.png")])
def test_a_file_that_cannot_be_kept_is_a_warning(
    client: RetryingClient, courier: Courier, run: RunOnServer, telemetry: Path, record: tuple[Any, ...]
) -> None:
    (telemetry / "spool" / "s1").write_bytes(b"png")
    write(telemetry, run.id, record, value(1))
    journals = Journals(client, telemetry)
    courier.send_rest(journals)
    assert run.metric("loss") == [1]
    assert journals.warnings


def test_a_spool_name_does_not_lead_out(
    client: RetryingClient, courier: Courier, run: RunOnServer, telemetry: Path
) -> None:
    secret = telemetry.parent / "secret"
    secret.write_text("s")
    write(telemetry, run.id, (contract.FILE, "stolen", "../../secret"))
    courier.send_rest(Journals(client, telemetry))
    assert "stolen" not in run.files()
    assert secret.exists()


def test_many_writers_and_child_runs(
    client: RetryingClient, courier: Courier, run: RunOnServer, telemetry: Path
) -> None:
    child = run.server.make_run(kind="child", parent_id=run.id)
    write(telemetry, run.id, value(1), writer="1")
    write(telemetry, run.id, value(2), writer="2")
    write(telemetry, child.id, value(3), (contract.END, "completed", None))
    journals = Journals(client, telemetry)
    courier.send_rest(journals)
    assert sorted(run.metric("loss")) == [1, 2]
    assert child.metric("loss") == [3]
    assert journals.take_ends() == [End(child.id, "completed", None)]
    assert journals.take_ends() == []


def test_an_end_that_was_delivered_but_not_reported_is_found_again(
    client: RetryingClient, courier: Courier, run: RunOnServer, telemetry: Path
) -> None:
    write(telemetry, run.id, value(1), (contract.END, "failed", {"code": "X"}))
    courier.send_rest(Journals(client, telemetry))
    again = Journals(client, telemetry)
    assert not courier.send_new(again)
    assert again.take_ends() == [End(run.id, "failed", {"code": "X"})]


def test_a_journal_of_a_run_out_of_reach_stops_nobody_else(
    client: RetryingClient, courier: Courier, run: RunOnServer, telemetry: Path
) -> None:
    stranger = run.server.make_run()
    write(telemetry, stranger.id, value(1))
    write(telemetry, run.id, value(2))
    (telemetry / "journal" / "notes.jsonl").write_text("[]\n")
    journals = Journals(client, telemetry)
    courier.send_rest(journals)
    assert run.metric("loss") == [2]
    assert stranger.metric("loss") == []
    assert len(journals.warnings) == 2


def test_a_folder_in_the_place_of_a_journal_stops_nobody_else(
    client: RetryingClient, courier: Courier, run: RunOnServer, telemetry: Path
) -> None:
    (telemetry / "journal" / contract.file_name(run.id, "0")).mkdir()
    write(telemetry, run.id, value(1.0))
    journals = Journals(client, telemetry)
    courier.send_rest(journals)
    assert run.metric("loss") == [1.0]
    assert "not a regular file" in journals.warnings[0]


def test_records_that_are_nested_too_deep_or_name_a_folder_cost_only_themselves(
    client: RetryingClient, courier: Courier, run: RunOnServer, telemetry: Path
) -> None:
    deep = b'["e","failed",' + b"[" * 50_000 + b"]" * 50_000 + b"]\n"
    write(telemetry, run.id, deep, (contract.FILE, "x", ".."), value(1.0))
    journals = Journals(client, telemetry)
    courier.send_rest(journals)
    assert run.metric("loss") == [1.0]
    assert journals.take_ends() == []
    assert telemetry.is_dir()


def test_a_pipe_among_the_files_to_keep_keeps_nobody_waiting(
    client: RetryingClient, courier: Courier, run: RunOnServer, telemetry: Path
) -> None:
    os.mkfifo(telemetry / "spool" / "pipe")
    write(telemetry, run.id, (contract.FILE, "x", "pipe"), value(1.0))
    journals = Journals(client, telemetry)
    courier.send_rest(journals)
    assert run.metric("loss") == [1.0]
    assert journals.warnings[0].startswith("x could not be kept")


def test_an_end_in_words_of_its_own_is_still_an_end(
    client: RetryingClient, courier: Courier, run: RunOnServer, telemetry: Path
) -> None:
    write(telemetry, run.id, (contract.END, "gone", None), (contract.END, "failed", "it broke"))
    journals = Journals(client, telemetry)
    courier.send_rest(journals)
    assert journals.take_ends() == [End(run.id, "failed", {"code": "UserError", "message": "it broke"})]
    assert "'gone' is no end of a run" in journals.warnings[0]
