from __future__ import annotations

import json
import os
from pathlib import Path

from runyard.node.lock import take_lock


def test_only_one_holds_it_and_says_who(tmp_path: Path) -> None:
    first = take_lock(tmp_path)
    assert first is not None
    assert take_lock(tmp_path) is None
    assert json.loads((tmp_path / "runner.lock").read_text()) == {"pid": os.getpid()}
    first.close()
    again = take_lock(tmp_path)
    assert again is not None
    again.close()
