from __future__ import annotations

from pathlib import Path

from runyard.system import locks


def test_one_holder_or_many(tmp_path: Path) -> None:
    path = tmp_path / "k.lock"
    assert not locks.is_held(path)
    assert not path.exists(), "asking leaves nothing behind"
    with locks.together(path), locks.together(path):
        assert locks.is_held(path)
        assert locks.alone(path) is None
    held = locks.alone(path)
    assert held is not None
    assert locks.alone(path) is None
    held.release()
    held.release()
    assert not locks.is_held(path)


def test_a_lock_whose_file_was_removed_does_not_keep_others_from_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "k.lock"
    old = locks.alone(path)
    assert old is not None
    path.unlink()
    new = locks.alone(path)
    assert new is not None
    old.release()
    assert locks.is_held(path)
    new.remove()
    assert not path.exists()


def test_the_word_of_a_former_holder_is_wiped(tmp_path: Path) -> None:
    path = tmp_path / "k.lock"
    path.write_text("4711")
    held = locks.alone(path)
    assert held is not None
    assert path.read_text() == ""
    held.write("12")
    held.write("3")
    assert path.read_text() == "3"
    held.release()


def test_a_lock_that_is_forgotten_is_released(tmp_path: Path) -> None:
    held = locks.alone(tmp_path / "k.lock")
    assert held is not None
    del held
    assert not locks.is_held(tmp_path / "k.lock")
