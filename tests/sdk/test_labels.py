"""If these fail, a tag or property is stored as something that cannot be found again."""

from __future__ import annotations

import pytest

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.labels import checked_labels


def test_labels_become_texts(caplog: pytest.LogCaptureFixture) -> None:
    assert checked_labels("tags", {"a": "x", "b": None, "c": 4}, none_allowed=True) == {"a": "x", "b": None, "c": "4"}
    assert checked_labels("properties", {"a": None}, none_allowed=False) == {"a": "None"}
    assert [message.partition(" has")[0] for message in caplog.messages] == ["The tag 'c'", "The property 'a'"]
    with pytest.raises(UserErrorException, match="The tags must be a dict, not a list"):
        checked_labels("tags", ["a"], none_allowed=True)  # type: ignore[arg-type]
