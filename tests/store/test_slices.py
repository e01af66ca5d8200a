from __future__ import annotations

from runyard.store.slices import slices


def test_every_item_is_in_one_slice_and_none_is_too_long() -> None:
    pieces = list(slices(list(range(1201))))
    assert [len(piece) for piece in pieces] == [500, 500, 201]
    assert [item for piece in pieces for item in piece] == list(range(1201))


def test_an_empty_list_has_no_slices() -> None:
    assert list(slices([])) == []
    assert list(slices("abc", 2)) == ["ab", "c"]
