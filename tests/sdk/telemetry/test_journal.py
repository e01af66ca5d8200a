"""A record that `run.log` has written is on the disk, whole and readable, whatever happens next."""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.contracts import journal as contract
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.telemetry.journal import Journal


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal", "run_1")


def records(journal_folder: Path) -> list[list[Any]]:
    """All records of a folder, read the strict way: one JSON array per line."""
    found = []
    for file in sorted(journal_folder.glob("*.jsonl")):
        assert contract.parse_file_name(file.name)[0] == "run_1"
        text = file.read_bytes()
        assert text.endswith(b"\n")
        found += [json.loads(line, parse_constant=pytest.fail) for line in text.decode("utf-8").splitlines()]
    return found


def same(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return type(one) is type(other) and one == other


@given(
    name=st.text(min_size=1).filter(str.strip),
    value=st.one_of(st.floats(), st.integers(), st.booleans(), st.none(), st.text()),
    step=st.one_of(st.none(), st.integers()),
)
def test_any_value_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, name: str, value: object, step: int | None
) -> None:
    folder = tmp_path_factory.mktemp("journal")
    Journal(folder, "run_1").value(name, value, step)
    ((kind, shown, stored, at, kept_step),) = records(folder)
    text = name.encode("utf-8", "backslashreplace").decode()
    expected = value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
    assert (kind, shown, kept_step) == (contract.VALUE, text, step)
    assert same(contract.unpack_value(stored), expected)
    assert at > 1_600_000_000


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (numpy.float64(0.5), 0.5),
        (numpy.float32(0.5), 0.5),
        (numpy.int64(7), 7),
        (numpy.uint64(2**64 - 1), 2**64 - 1),
        (numpy.bool_(True), True),
        (numpy.str_("a"), "a"),
        (numpy.array(3), 3),
        (numpy.array([2.5]), 2.5),
        (Fraction(1, 4), 0.25),
        ((1, 2), "(1, 2)"),
        (b"x", "b'x'"),
    ],
)
def test_numbers_of_other_libraries_are_numbers(journal: Journal, value: object, stored: object) -> None:
    journal.value("m", value)
    assert same(records(journal.folder)[0][2], stored)


def test_an_integer_too_long_to_write_out_is_kept_in_hexadecimal(journal: Journal) -> None:
    journal.value("m", 1 << 50_000)
    assert records(journal.folder)[0][2] == hex(1 << 50_000)


@pytest.mark.parametrize("value", [[1], range(3), iter([1]), (each for each in [1])])
def test_many_values_at_once_are_refused_with_the_method_to_use(journal: Journal, value: object) -> None:
    with pytest.raises(UserErrorException, match="log_list"):
        journal.value("m", value)


def test_a_value_that_is_none_of_these_is_said_once(journal: Journal, caplog: pytest.LogCaptureFixture) -> None:
    journal.value("strange", object())
    journal.value("strange", object())
    assert len([record for record in caplog.records if "'strange'" in record.getMessage()]) == 1


@pytest.mark.parametrize(("step", "stored"), [(numpy.int64(3), 3), (3.0, 3), (2.5, 2), ("x", None), (math.nan, None)])
def test_a_step_becomes_a_whole_number(journal: Journal, step: Any, stored: int | None) -> None:
    journal.value("m", 1.0, step)
    assert records(journal.folder)[0][4] == stored


def test_a_name_must_say_something(journal: Journal) -> None:
    with pytest.raises(UserErrorException, match="name"):
        journal.value("  ", 1)


def test_names_that_are_equal_keys_stay_apart(journal: Journal) -> None:
    for name in ("1", 1, True, 1.0):
        journal.value(name, 0)  # type: ignore[arg-type]
    assert [record[1] for record in records(journal.folder)] == ["1", "1", "True", "1.0"]


def test_other_records_have_the_forms_of_the_contract(journal: Journal) -> None:
    journal.values("l", [1.0, math.inf, None])
    journal.rows("t", {"x": [1], "y": [math.nan]})
    journal.artifact("img", "azureml.v2.image", "img_1.png")
    journal.description("l", "what it is")
    journal.description("l", "what it is")
    journal.file("a.png", "spooled")
    journal.tags({"k": None})
    journal.untag(["k"])
    journal.properties({"p": "1"})
    journal.end("failed", {"code": "UserError", "message": "m"})
    found = records(journal.folder)
    assert [record[0] for record in found] == ["l", "t", "a", "d", "f", "g", "G", "p", "e"]
    assert found[0][2] == [1.0, {"f": "inf"}, None]
    assert found[1][2] == {"x": [1], "y": [{"f": "nan"}]}
    assert found[8][1:] == ["failed", {"code": "UserError", "message": "m"}]


def test_a_forked_child_writes_a_file_of_its_own(journal: Journal) -> None:
    journal.value("parent", 1)
    child = os.fork()
    if not child:
        journal.value("child", 2)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    journal.value("parent", 3)
    files = list(journal.folder.glob("*.jsonl"))
    assert len(files) == 2
    assert sorted((record[1], record[2]) for record in records(journal.folder)) == [
        ("child", 2),
        ("parent", 1),
        ("parent", 3),
    ]
    assert len(journal.files) == 1


def test_all_that_was_logged_survives_sigkill(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from runyard.sdk.telemetry.journal import Journal\n"
        f"journal = Journal(Path({str(tmp_path)!r}), 'run_1')\n"
        "for i in range(10**9):\n"
        "    journal.value('i', i)\n"
        "    print(i, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert process.stdout is not None
    document = 0
    for line in process.stdout:
        document = int(line)
        if document >= 200:
            break
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read().split()
    process.stdout.close()
    process.wait()
    document = max([document, *map(int, rest[:-1])])
    stored = [record[2] for record in records(tmp_path)]
    assert stored == list(range(len(stored)))
    assert len(stored) > document


def test_a_full_disk_neither_raises_nor_loses_nor_breaks_a_line(tmp_path: Path) -> None:
    """A limit on the size of files stands in for the end of the disk: the write that meets it is cut in the middle."""
    script = (
        "import resource, sys; from pathlib import Path; from runyard.sdk.telemetry.journal import Journal\n"
        f"journal = Journal(Path({str(tmp_path)!r}), 'run_1')\n"
        "hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))\n"
        "for i in range(100): journal.value('i', i)\n"
        "assert journal.unwritten > 1000, journal.unwritten\n"
        "assert journal.files[0].stat().st_size == 1000\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))\n"
        "if sys.argv[1] == 'more': journal.value('i', 100)\n"
    )
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    for then, count in (("more", 101), ("exit", 100)):
        for file in tmp_path.glob("*"):
            file.unlink()
        done = subprocess.run([sys.executable, "-c", script, then], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("cannot write") == 1
        assert [record[2] for record in records(tmp_path)] == list(range(count))


def test_a_folder_that_cannot_be_written_is_tried_again(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("in the way")
    journal = Journal(tmp_path / "journal", "run_1")
    journal.value("a", 1)
    assert journal.unwritten
    (tmp_path / "journal").unlink()
    journal.value("a", 2)
    assert [record[2] for record in records(journal.folder)] == [1, 2]


def test_a_descriptor_that_was_closed_from_outside_is_opened_anew(journal: Journal) -> None:
    journal.value("a", 1)
    os.close(journal._descriptor)
    journal.value("a", 2)
    assert sorted(record[2] for record in records(journal.folder)) == [1, 2]


def test_user_code_that_closes_low_descriptors_does_not_hit_the_journal(journal: Journal) -> None:
    journal.value("a", 1)
    assert journal._descriptor >= 100


@pytest.mark.parametrize(
    ("variables", "rank"),
    [
        ({}, None),
        ({"RUNYARD_PROCESS_RANK": "2"}, 2),
        ({"RUNYARD_PROCESS_RANK": "2", "RANK": "7"}, 7),  # torchrun, started by the run's own command
        ({"RANK": "x"}, None),
        ({"RANK": "٣"}, None),
        ({"RANK": "9" * 100_000}, None),
    ],
)
def test_a_journal_is_named_by_the_rank_of_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], rank: int | None
) -> None:
    for name in ("RANK", contract.RANK_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    journal = Journal(tmp_path, "run")
    journal.value("loss", 1.0)
    journal.close()
    _, writer = contract.parse_file_name(journal.files[0].name)
    assert contract.rank_of(writer) == rank
