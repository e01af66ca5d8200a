"""What a JSON file may hold once something has happened to it, for every reader of one."""

from __future__ import annotations

import pytest

NOT_AN_OBJECT = [
    *(b"", b"{", b"null", b"true", b"7", b'"text"', b"[]", b'[{"pid": 1}]', b"\xff\xfe", b"\0" * 100),
    *(b"[" * 5_000, b'{"a":' * 5_000, b"NaN", b"1" * 10_000),
]
"""No object at all."""

OTHER_TYPES = [
    b"{}",
    *(b'{"%s": %s}' % (key, value) for key in (b"pid", b"runner") for value in (b"null", b"[]", b"-1", b"1e400")),
    b'{"pid": true, "url": 1, "version": [], "port": "7", "host": {}}',
    b'{"pid": -1, "url": "http://127.0.0.1:1", "version": "1"}',
    b'{"phase": "running", "runner": {"pid": "1"}, "cookie": "c", "processes": [1]}',
    b'{"key": 1, "kind": "", "builder": "", "built": {"interpreter": 7}}',
    b'{"run_id": "r", "token": "t", "server_url": "u", "owner_pid": "x"}',
]
"""Objects of other things than were asked for."""

every_bad_text = pytest.mark.parametrize("text", [*NOT_AN_OBJECT, *OTHER_TYPES], ids=lambda text: repr(text[:30]))
