from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from runyard.cli import errors

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

SLOW = """
import time
print("first", flush=True)
time.sleep(600)
"""


def read_bytes(shell: Shell, *words: str) -> bytes:
    process = shell.start(*words)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


def test_the_log_is_the_bytes_that_the_script_wrote(shell: Shell) -> None:
    """Also those that are no text, and those that make up one character but came in two pieces."""
    script = shell.script(
        r"""
        import os, time
        os.write(1, b"caf\xc3")
        time.sleep(0.3)
        os.write(1, b"\xa9\r\n\x00\xff no newline at the end")
        """
    )
    expected = b"caf\xc3\xa9\r\n\x00\xff no newline at the end"
    run = shell.json("submit", script)
    assert read_bytes(shell, "logs", "-f", run["id"]) == expected
    assert read_bytes(shell, "logs", run["id"]) == expected
    events = [json.loads(line) for line in shell.call("logs", "-f", run["id"], "--json").stdout.splitlines()]
    text = "".join(event["text"] for event in events if event["event"] == "log")
    assert text == expected.decode("utf-8", "replace")
    assert shell.json("logs", run["id"])["text"] == text


def test_a_large_log_arrives_whole(shell: Shell) -> None:
    script = shell.script("for n in range(200_000): print('line', n)")
    run = shell.json("submit", script)
    expected = b"".join(b"line %d\n" % n for n in range(200_000))
    assert read_bytes(shell, "logs", "-f", run["id"]) == expected


def test_another_file(shell: Shell) -> None:
    run = shell.completed("import os; os.makedirs('logs', exist_ok=True); open('logs/a.txt', 'w').write('from a file')")
    assert shell.call("logs", run["id"], "--file", "logs/a.txt").stdout == "from a file"
    error = shell.refusal("logs", run["id"], "--file", "logs/b.txt", expect=errors.NOT_FOUND)
    assert error["code"] == "file_not_found"


def test_interrupting_leaves_the_run_going_and_says_so(shell: Shell) -> None:
    run = shell.json("submit", shell.script(SLOW))
    process = shell.start("logs", "-f", run["id"])
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"first\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == errors.INTERRUPTED
        assert f"The run goes on. `runyard logs -f {run['id']}`" in err.decode()
        assert shell.json("show", run["id"])["status"] == "Running"
    finally:
        process.kill()
        process.communicate()
        shell.call("stop", run["id"])


def test_following_survives_the_death_of_the_server(fresh_shell: Shell) -> None:
    """The follower takes up where it was when the server is back, with nothing missing and nothing twice."""
    go = fresh_shell.folder / "go"
    script = fresh_shell.script(
        f"""
        import os, time
        print("before", flush=True)
        while not os.path.exists({str(go)!r}):
            time.sleep(0.02)
        print("after", flush=True)
        """
    )
    run = fresh_shell.json("submit", script)
    follower = fresh_shell.start("logs", "-f", run["id"])
    try:
        assert follower.stdout is not None
        assert follower.stdout.readline() == b"before\n"
        pid = int(json.loads((fresh_shell.home / "server.json").read_text())["pid"])
        subprocess.run(["kill", "-KILL", str(pid)], check=True)
        go.touch()
        rest, err = follower.communicate(timeout=120)
        assert rest == b"after\n", err
        assert follower.returncode == 0
    finally:
        follower.kill()
        follower.communicate()


def test_a_reader_that_has_seen_enough_gets_no_traceback(shell: Shell) -> None:
    run = shell.completed("for n in range(100_000): print('line', n)")
    process = shell.start("logs", run["id"])
    assert process.stdout is not None
    assert process.stdout.readline() == b"line 0\n"
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.wait(timeout=60)
    process.stderr.close()


def test_the_log_of_an_interactive_run_is_what_its_block_printed(shell: Shell) -> None:
    shell.call("up")
    code = """
    from azureml.core import Experiment, Workspace
    with Experiment(Workspace.from_config(), "interactive").start_logging(snapshot_directory=None) as run:
        print("from the block")
    """
    script = shell.script(code)
    subprocess.run([sys.executable, script], env=shell.environment(), cwd=shell.folder, check=True, capture_output=True)
    run_id = shell.json("ls", "-e", "interactive")[0]["id"]
    assert "from the block\n" in shell.call("logs", "-f", run_id).stdout
