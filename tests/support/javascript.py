"""`make check` of the studio's scripts: TypeScript reads their JSDoc types, ESLint the rest. Nothing is built.

Both come from npm, in the versions of package.json, into `node_modules`. Where there is no Node, or npm cannot fetch
them, this says so and is no failure: the scripts need neither to run.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MODULES = ROOT / "node_modules"
SCRIPTS = "src/runyard/server/studio/static/js"


def main() -> int:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return _skipped("Node is not installed")
    if not _is_there() and (why := _fetched(npm)):
        return _skipped(f"npm cannot fetch what checks them: {why}")
    cache = str(MODULES / ".cache" / "eslint")
    commands = (
        [node, str(MODULES / "typescript" / "bin" / "tsc"), "--project", str(ROOT)],
        [
            node,
            str(MODULES / "eslint" / "bin" / "eslint.js"),
            "--max-warnings=0",
            "--cache",
            "--cache-location",
            cache,
            SCRIPTS,
        ],
    )
    failed = [command for command in commands if subprocess.run(command, cwd=ROOT).returncode]
    return 1 if failed else 0


def _is_there() -> bool:
    """Whether all that package.json names is there, in that version."""
    wanted = json.loads((ROOT / "package.json").read_text("utf-8"))["devDependencies"]
    for name, version in wanted.items():
        package = MODULES / name / "package.json"
        if not package.exists() or json.loads(package.read_text("utf-8"))["version"] != version:
            return False
    return True


def _fetched(npm: str) -> str:
    """Why it could not be; nothing when it was."""
    command = [npm, "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return "it takes too long"
    return "" if done.returncode == 0 else done.stderr.strip()[-200:] or "it failed"


def _skipped(why: str) -> int:
    print(f"The studio's scripts are not checked: {why}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
