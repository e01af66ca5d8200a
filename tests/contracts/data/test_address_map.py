"""An address that is gone is found where its operator says: and nowhere outside that folder."""

from __future__ import annotations

import pytest

from runyard.contracts.data.address_map import BadMap, Mapped, check, look_up, parse

MAPS = {
    "http://gone.org/": "https://mirror.org/all",
    "http://gone.org/mnist/": "/data/mnist",
    "http://gone.org/one.gz": "/data/one.gz",
}


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://gone.org/mnist/a.gz", Mapped(local="/data/mnist/a.gz")),
        ("http://gone.org/mnist/sub/a%20b.gz?x=1", Mapped(local="/data/mnist/sub/a b.gz")),
        ("http://gone.org/x/y", Mapped(url="https://mirror.org/all/x/y")),
        ("http://gone.org/one.gz", Mapped(local="/data/one.gz")),
        ("http://gone.org/one.gz2", Mapped(url="https://mirror.org/all/one.gz2")),
        ("http://here.org/a", Mapped(url="http://here.org/a")),
        ("http://gone.org/mnist/../../etc/passwd", Mapped(url="http://gone.org/mnist/../../etc/passwd")),
        ("http://gone.org/mnist/%2e%2e/x", Mapped(url="http://gone.org/mnist/%2e%2e/x")),
    ],
)
def test_the_longest_prefix_says_where_a_file_is(url: str, found: Mapped) -> None:
    assert look_up(MAPS, url) == found


@pytest.mark.parametrize(
    ("prefix", "place"),
    [("ftp://h/", "/data"), ("http://h/", "data"), ("http://h/", "/data/../x"), ("http://a b/", "/data"), ("", "")],
)
def test_what_cannot_be_mapped_is_refused(prefix: str, place: str) -> None:
    with pytest.raises(BadMap):
        check(prefix, place)


def test_a_map_is_read_from_its_setting() -> None:
    assert parse('{"http://h/": "/data"}') == {"http://h/": "/data"}
    assert parse("") == {}
    for wrong in ("[]", "{", '{"http://h/": 1}', '{"x": "/data"}'):
        with pytest.raises(BadMap):
            parse(wrong)
