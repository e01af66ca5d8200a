"""Asks a service for the rows of `answers.json`, and compares what it says with what PyTorch said.

python compare.py http://127.0.0.1:8890/score outputs/answers.json [key]
"""

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path

address, path, *key = sys.argv[1:]
expected = json.loads(Path(path).read_text())
headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key[0]}"} if key else {})}
body = json.dumps({"inputs": {"rows": expected["rows"]}}).encode()
with urllib.request.urlopen(urllib.request.Request(address, body, headers)) as answer:
    chances = json.load(answer)["outputs"]
pairs = [
    (a, b) for ours, theirs in zip(chances, expected["chances"], strict=True) for a, b in zip(ours, theirs, strict=True)
]
largest = max(abs(a - b) for a, b in pairs)
print(f"{len(chances)} answers; the largest difference between ONNX Runtime and PyTorch is {largest:.1e}")
sys.exit(largest > 1e-5)
