"""What no widget may hold: markup that users wrote."""

from __future__ import annotations

from html.parser import HTMLParser

PLAIN = frozenset(
    ["div", "pre", "span", "strong", "a", "svg", "polyline", "polygon", "circle", "table", "tr", "td", "th"]
)


def assert_plain(html: str) -> None:
    """Its tags are closed in their order, and neither they nor their attributes can do anything."""
    opened: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            assert tag in PLAIN
            assert not [name for name, _ in attributes if name.startswith("on")]
            for name, value in attributes:
                assert name != "href" or str(value).startswith("http")
            opened.append(tag)

        def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            self.handle_starttag(tag, attributes)
            opened.pop()

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

    Reader().feed(html)
    assert not opened
