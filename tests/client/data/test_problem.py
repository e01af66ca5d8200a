"""What a user reads when a file cannot be had: the address without its signature, and the command that helps."""

from __future__ import annotations

from pathlib import Path

from runyard.client.data.problem import Changed, DiskFull, refused


def test_a_refusal_names_the_address_the_answer_and_the_command() -> None:
    said = str(refused({"source": "http://gone.org/mnist/a.gz"}, "http://gone.org/mnist/a.gz", "404 Not Found"))
    assert "http://gone.org/mnist/a.gz does not give its file: 404 Not Found." in said
    assert "`runyard data map http://gone.org/mnist/ /folder/with/the/files`" in said


def test_a_signature_is_never_shown() -> None:
    said = str(refused({"source": "('store', 'a')"}, "https://b.example/a?X-Amz-Signature=secret", "403 Forbidden"))
    assert "https://b.example/a" in said
    assert "secret" not in said


def test_others() -> None:
    assert "submit the run again" in str(Changed({"source": "a"}, "has changed"))
    assert "runyard data cache gc" in DiskFull(Path("/data")).help
