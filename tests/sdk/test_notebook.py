"""HTML for notebooks: what users named their runs is text there, never markup."""

from __future__ import annotations

from runyard.sdk import notebook

EVIL = "<script>\"'&"


def test_every_text_is_escaped() -> None:
    html = notebook.table([EVIL], [[EVIL, notebook.link(f"http://x/?a=1&b={EVIL}", EVIL)]])
    assert "<script>" not in html
    assert html.count("&lt;script&gt;&quot;&#x27;&amp;") == 4
    assert 'href="http://x/?a=1&amp;b=' in html


def test_cells_of_every_kind() -> None:
    html = notebook.table(["a", "b"], [["text", 3], [None, ("http://x", "link")]])
    assert html.count("<tr>") == 3
    assert "<td>3</td>" in html
    assert "<td></td>" in html
    assert '<a href="http://x" target="_blank" rel="noopener">link</a>' in html
