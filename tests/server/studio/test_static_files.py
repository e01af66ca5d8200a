"""Scripts and styles: cached for ever under the address of this version, compressed, and nothing but what is there."""

from __future__ import annotations

import gzip
import re

from starlette.datastructures import Headers

from runyard.server.studio import static_files


def test_files_are_cached_and_compressed() -> None:
    address = static_files.address("js/core/dom.js")
    version, name = address.removeprefix("/static/").split("/", 1)
    plain = static_files.answer(name, version, Headers({}))
    packed = static_files.answer(name, version, Headers({"accept-encoding": "br, gzip"}))
    assert plain is not None
    assert packed is not None
    assert "immutable" in plain.headers["cache-control"]
    assert gzip.decompress(bytes(packed.body)) == bytes(plain.body)
    same = static_files.answer(name, version, Headers({"if-none-match": plain.headers["etag"]}))
    assert same is not None
    assert same.status_code == 304
    old = static_files.answer(name, "0ld", Headers({}))
    assert old is not None
    assert old.headers["cache-control"] == "no-cache"
    for wrong in ("../templates/base.html", "js/core/nosuch.js", "/etc/passwd", ""):
        assert static_files.answer(wrong, version, Headers({})) is None


def test_all_scripts_of_a_page_are_small_and_known() -> None:
    every = static_files.modules("js/runs/page.js")
    assert {"js/core/api.js", "js/core/dom.js", "js/runs/table.js"} <= set(every)
    assert sum(len(static_files.files()[name].packed) for name in every) < 100_000


def test_dark_is_one_set_of_colours_whoever_asks_for_it() -> None:
    """CSS has no way to say them once, for the system's wish and for the reader's, that scripts could read as well."""
    style = static_files.files()["css/base.css"].content.decode()
    system = re.search(r':root:not\(\[data-theme="light"\]\) \{(.*?)\}', style, re.DOTALL)
    chosen = re.search(r':root\[data-theme="dark"\] \{(.*?)\}', style, re.DOTALL)
    assert system is not None
    assert chosen is not None
    assert system[1].split() == chosen[1].split()
