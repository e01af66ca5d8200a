"""If these fail, a README or notes that a run has written hold up the page of whoever looks at the run."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from runyard.server.studio.static_files import FOLDER

SECONDS = 20
"""For all hard texts together: each took more than ten where a repetition could begin anywhere in another."""

DOCUMENT = """
class Node {}
class Element extends Node {
  constructor(tag) { super(); this.tagName = tag.toUpperCase(); this.childNodes = []; }
  setAttribute() {}
  append(child) { this.childNodes.push(child); }
}
globalThis.Node = Node;
globalThis.document = { createElement: (tag) => new Element(tag), createTextNode: (text) => text };
const asList = (node) => (typeof node === "string" ? node : [node.tagName, ...node.childNodes.map(asList)]);
"""

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")


def shown(*texts: str) -> Any:
    """What the page makes of each text: its elements, as lists of a tag and what is in it."""
    module = (FOLDER / "js" / "run" / "markdown.js").as_uri()
    script = f"""{DOCUMENT}
const {{ markdown }} = await import({json.dumps(module)});
console.log(JSON.stringify({json.dumps(texts)}.map((text) => asList(markdown(text)).slice(1))));
"""
    command = ["node", "--input-type=module", "--no-warnings", "-"]
    done = subprocess.run(command, input=script, capture_output=True, text=True, timeout=SECONDS, check=True)
    return json.loads(done.stdout)


@needs_node
def test_headings_tables_and_fences() -> None:
    found = shown(
        "# C# and more ##", "# F#", "a|b\n:-|-:\n1|2", "a|b\n-|x", "```py\n# 1\n```\nafter", "```\nopen", "a  \nb"
    )
    assert found[:2] == [[["H3", "C# and more"]], [["H3", "F#"]]]
    head, body = ["THEAD", ["TR", ["TH", "a"], ["TH", "b"]]], ["TBODY", ["TR", ["TD", "1"], ["TD", "2"]]]
    assert found[2] == [["DIV", ["TABLE", head, body]]]
    assert found[3] == [["P", "a|b\n-|x"]]
    assert found[4] == [["PRE", ["CODE", "# 1"]], ["P", "after"]]
    assert found[5] == [["PRE", ["CODE", "open"]]]
    assert found[6] == [["P", "a", ["BR"], "b"]]


@needs_node
def test_long_texts_are_no_work() -> None:
    long = 100_000
    hard = [
        " " * long + "x",
        "# x" + " " * long + "y",
        "# " + "#" * long + "y",
        "a|b\n|" + " " * long + "x",
        "a|b\n-" + " " * long + "x",
        "[a](" + " " * long,
        "[a](b " + " " * long,
        "```\n" * (long // 4),
        "`a ``" * (long // 5),
        "**a " * (long // 4),
    ]
    assert len(shown(*hard)) == len(hard)
