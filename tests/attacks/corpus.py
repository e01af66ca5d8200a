"""Journals, manifests and names that no honest client sends. What an attack has found once is added here."""

from __future__ import annotations

import json
from typing import Any

LONG = 100_000

DIGEST = "0" * 64


def record(*items: Any) -> bytes:
    return json.dumps(items).encode() + b"\n"


BAD_JOURNALS: dict[str, bytes] = {
    "no line feed": b'["v","a",1,1,null]',
    "an empty line": b"\n",
    "no JSON": b"hello\n",
    "no list": b'{"v": 1}\n',
    "an empty list": b"[]\n",
    "two records in a line": b'["v","a",1,1,null],["v","a",1,1,null]\n',
    "half a record": b'["v","a",1,1\n',
    "an unknown kind": record("z", 1),
    "a kind that is a list": record([], "a", 1, 1, None),
    "too few items": record("v", "a", 1),
    "too many items": record("v", "a", 1, 1.0, None, 1),
    "a name that is a number": record("v", 1, 1, 1.0, None),
    "a name that is a list": record("v", ["a"], 1, 1.0, None),
    "a value that is a list": record("v", "a", [1], 1.0, None),
    "a value that is an object": record("v", "a", {"g": "nan"}, 1.0, None),
    "a value of an unknown float": record("v", "a", {"f": "huge"}, 1.0, None),
    "NaN as Python writes it": b'["v","a",NaN,1.0,null]\n',
    "a time that is a text": record("v", "a", 1, "now", None),
    "a time that is infinite": b'["v","a",1,1e999,null]\n',
    "a step that is a float": record("v", "a", 1, 1.0, 1.5),
    "a step past 64 bits": record("v", "a", 1, 1.0, 2**63),
    "a list that is a text": record("l", "a", "text", 1.0),
    "a table of unequal columns": record("t", "a", {"x": [1], "y": [1, 2]}, 1.0),
    "a table with a text as a column": record("t", "a", {"x": "abc"}, 1.0),
    "a table that is a list": record("t", "a", [[1]], 1.0),
    "a file that leads out": record("a", "a", "azureml.v2.image", "../../etc/passwd", 1.0),
    "an absolute file": record("a", "a", "azureml.v2.image", "/etc/passwd", 1.0),
    "a file with a NUL": record("a", "a", "azureml.v2.image", "a\0b", 1.0),
    "tags that are a list": record("g", ["a"]),
    "a tag that is an object": record("g", {"a": {"b": 1}}),
    "keys that are a number": record("G", 1),
    "bytes that are no UTF-8": b'["v","\xff\xfe",1,1.0,null]\n',
    "lists within lists": b"[" * LONG + b"]" * LONG + b"\n",
    "objects within objects": b'["g",' + b'{"a":' * LONG + b"1" + b"}" * LONG + b"]\n",
    "a number of 100,000 digits": b'["v","a",' + b"9" * LONG + b",1.0,null]\n",
    "a good line before a bad one": record("v", "a", 1, 1.0, None) + b"hello\n",
}

BAD_MANIFESTS: dict[str, bytes] = {
    "no JSON": b"hello\n",
    "an object": b'{"path": "a"}\n',
    "too few items": record("a", "file", DIGEST, 1, 0),
    "too many items": record("a", "file", DIGEST, 1, 0, "", ""),
    "a path that leads out": record("../a", "file", DIGEST, 1, 0, ""),
    "a path that leads out later": record("a/../../b", "file", DIGEST, 1, 0, ""),
    "an absolute path": record("/etc/passwd", "file", DIGEST, 1, 0, ""),
    "a path with backslashes": record("..\\..\\a", "file", DIGEST, 1, 0, ""),
    "a path that is not in its normal form": record("a//b", "file", DIGEST, 1, 0, ""),
    "an empty path": record("", "file", DIGEST, 1, 0, ""),
    "a path that is a dot": record(".", "dir", "", 0, 0, ""),
    "a path with a NUL": record("a\0b", "file", DIGEST, 1, 0, ""),
    "a path that is a number": record(1, "file", DIGEST, 1, 0, ""),
    "an unknown kind": record("a", "socket", "", 0, 0, ""),
    "a hash that is too short": record("a", "file", "0" * 63, 1, 0, ""),
    "a hash that is a path": record("a", "file", "../" + "0" * 61, 1, 0, ""),
    "a hash in capitals": record("a", "file", "A" * 64, 1, 0, ""),
    "a size below nothing": record("a", "file", DIGEST, -1, 0, ""),
    "a size of no disk": record("a", "file", DIGEST, 2**63, 0, ""),
    "a size that is a float": record("a", "file", DIGEST, 1.5, 0, ""),
    "a folder with a hash": record("a", "dir", DIGEST, 0, 0, ""),
    "a link with a NUL": record("a", "link", "", 0, 0, "b\0c"),
    "a link to a number": record("a", "link", "", 0, 0, 1),
    "lists within lists": b"[" * LONG + b"]" * LONG + b"\n",
    "bytes that are no UTF-8": b'["\xff", "file", "", 0, 0, ""]\n',
}

BAD_NAMES: dict[str, str] = {
    "nothing": "",
    "a space": " ",
    "a dot": ".",
    "the folder above": "..",
    "a way out": "../../etc/passwd",
    "a way out with backslashes": "..\\..\\etc\\passwd",
    "an absolute path": "/etc/passwd",
    "a NUL": "a\0b",
    "a line feed": "a\nb",
    "an escape": "\x1b]0;title\x07",
    "a mark that turns the text around": "a\u202eb",
    "half a character": "a\ud800",
    "letters of another alphabet": "а-b",
    "digits of another alphabet": "٣a",
    "100,000 letters": "a" * LONG,
    "100,000 ways out": "../" * LONG,
    "a percent": "%2e%2e%2f",
    "a question": "a?b=c",
    "a fragment": "a#b",
}
