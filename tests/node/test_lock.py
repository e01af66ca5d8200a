from __future__ import annotations

import json
import os
import queue
import threading
from pathlib import Path

import psutil
from tests.support.waiting import wait_until

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


def test_a_lock_on_a_folder_that_was_removed_meanwhile_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    held = take_lock(folder)
    assert held is not None
    taken: queue.Queue[object] = queue.Queue()
    threading.Thread(target=lambda: taken.put(take_lock(folder, patience=60)), daemon=True).start()
    lock, me = str(folder / "runner.lock"), psutil.Process()
    wait_until(lambda: [file.path for file in me.open_files()].count(lock) == 2)
    folder.rename(tmp_path / "aside")
    folder.mkdir()  # for another start
    held.close()
    assert taken.get(timeout=60) is None, "two runners would be at work in one folder"
    assert take_lock(folder) is not None
