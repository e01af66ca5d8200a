"""Without a session there is no answer, and the error says what to call."""

from __future__ import annotations

import pytest

from runyard.compat.horovod.common.exceptions import NotInitialized
from runyard.compat.horovod.core import sessions
from runyard.compat.horovod.core.negotiator import Negotiator
from runyard.compat.horovod.core.places import Place


def test_one_session_is_entered_and_left() -> None:
    assert sessions.found() is None
    with pytest.raises(NotInitialized, match="use hvd"):
        sessions.current()
    session = Negotiator(Place())
    sessions.enter(session)
    assert sessions.current() is sessions.found() is session
    sessions.leave()
    assert sessions.found() is None
