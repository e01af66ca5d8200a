"""Services from the command line: deployed, called, changed and removed, with the next step always named."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tests.cli.conftest import RUNYARD

from runyard.cli import errors

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

SCORE = """\
import json

def init():
    print("ready to add")

def run(data):
    return {"sum": sum(json.loads(data)["data"]) + ADDED}

ADDED = 0
"""


def test_the_life_of_a_service(shell: Shell) -> None:
    (shell.folder / "score.py").write_text(SCORE)
    assert "No services" in shell.call("services", "ls").stdout
    said = shell.call("services", "deploy", "adds", "--script", "score.py", "--auth", "key").stdout
    assert "Revision 1 serves now" in said
    assert "services call adds" in said
    assert shell.call("services", "call", "adds", '{"data": [1, 2]}').stdout == '{"sum": 3}\n'
    listed = shell.call("services", "ls").stdout
    assert "Healthy" in listed
    assert "1/1 ready" in listed
    keys = shell.json("services", "keys", "adds")
    assert shell.json("services", "keys", "adds", "--renew", "primary")["secondary"] == keys["secondary"]
    (shell.folder / "score.py").write_text(SCORE.replace("ADDED = 0", "ADDED = 10"))
    shell.call("services", "update", "adds", "--script", "score.py", "--set", "log_requests=false")
    assert shell.json("services", "call", "adds", '{"data": [1]}')["answer"] == {"sum": 11}
    shell.call("services", "rollback", "adds")
    assert shell.json("services", "call", "adds", '{"data": [1]}')["answer"] == {"sum": 1}
    shown = shell.call("services", "show", "adds").stdout
    assert "Superseded" in shown
    assert "ready to add" in shell.call("services", "logs", "adds").stdout
    assert "adds" in shell.call("doctor").stdout
    assert "service_adds" not in shell.call("ls").stdout
    assert "service_adds" in shell.call("ls", "--services").stdout
    piped = subprocess.run(
        [str(RUNYARD), "services", "call", "adds"],
        cwd=shell.folder,
        env=shell.environment(),
        input=b'{"data": [5]}',
        capture_output=True,
        check=True,
    )
    assert piped.stdout == b'{"sum": 5}\n'
    assert shell.json("services", "call", "adds", "not json", expect=errors.FAILED)["status"] >= 400
    told = shell.call("services", "call", "adds", "x", expect=errors.FAILED).stderr
    assert "services logs adds" in told
    assert "JSONDecodeError" in told
    assert "(score.py, line 7)" in told, "the line of the user's own code"
    (shell.folder / "in.json").write_text('{"data": [7]}')
    told = shell.call("services", "call", "adds", "in.json", expect=errors.FAILED).stderr
    assert "@in.json sends what is in it" in told
    again = shell.refusal("services", "deploy", "adds", "--script", "score.py", expect=errors.FAILED)
    assert "--overwrite" in again["help"]
    shell.refusal("services", "rm", "adds", expect=errors.USAGE)
    assert shell.json("services", "rm", "adds", "--yes") == {"removed": "adds"}
    shell.refusal("services", "show", "adds", expect=errors.NOT_FOUND)


def test_what_is_wrong_with_a_script_is_told_where_it_is_deployed(shell: Shell) -> None:
    (shell.folder / "bad.py").write_text("def init():\n    raise OSError('no such disk')\n\ndef run(data): pass\n")
    refused = shell.call("services", "deploy", "bad", "--script", "bad.py", expect=errors.FAILED)
    assert "no such disk" in refused.stderr
    assert "services logs bad" in refused.stderr
    shell.call("services", "rm", "bad", "--yes")
    shell.refusal("services", "deploy", "none", expect=errors.USAGE)
    missing = shell.refusal("services", "deploy", "none", "--script", "missing.py", expect=errors.FAILED)
    assert "The folder holds: bad.py" in missing["title"]
