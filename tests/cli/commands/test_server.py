from __future__ import annotations

import re
import signal
import socket
import time
import urllib.request
from typing import TYPE_CHECKING

from runyard.cli import errors
from runyard.client.http import healthy
from runyard.contracts import home as homes

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def test_up_starts_one_server_and_down_ends_it(fresh_shell: Shell) -> None:
    first = fresh_shell.json("up")
    assert first["started"]
    assert first["home"] == str(fresh_shell.home)
    assert healthy(first["url"])
    told = fresh_shell.call("up").stdout
    assert first["url"] in told
    assert "submit train.py" in told
    assert fresh_shell.json("up") == {**first, "started": False}
    assert fresh_shell.json("down") == {"stopped": True}
    assert not healthy(first["url"])
    assert fresh_shell.json("down") == {"stopped": False}


def test_the_commands_on_the_front_page_print_links_to_runs(shell: Shell) -> None:
    """Somebody who opens the server's address looks for a way to the runs."""
    run = shell.completed()
    url = shell.json("up")["url"]
    with urllib.request.urlopen(url, timeout=60) as answer:
        commands = re.findall("<pre>runyard (.*)</pre>", answer.read().decode())
    assert commands.pop(0) == "studio"
    assert f"{url}/studio/enter?code=" in shell.call("studio", "--no-browser").stdout
    assert commands
    for command in commands:
        links = re.findall(rf"{url}/runs/\S+[?]key=\S+", shell.call(*command.split()).stdout)
        with urllib.request.urlopen(links[0], timeout=60) as page:
            assert run["id"] in page.read().decode()


def test_up_with_other_settings_says_that_the_server_runs(fresh_shell: Shell) -> None:
    url = fresh_shell.json("up")["url"]
    error = fresh_shell.refusal("up", "--port", "0", expect=errors.FAILED)
    assert url in error["title"]
    assert "runyard down" in error["help"]
    assert healthy(url)


def test_a_port_in_use_is_named_and_is_exit_code_4(fresh_shell: Shell) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        error = fresh_shell.refusal("up", "--port", str(port), expect=errors.UNREACHABLE)
    assert str(port) in error["title"]


def test_another_address_than_loopback_needs_a_token_of_ones_own(fresh_shell: Shell) -> None:
    error = fresh_shell.refusal("up", "--host", "0.0.0.0", expect=errors.UNREACHABLE)
    assert "token" in error["title"]


def test_serve_runs_in_the_foreground_until_it_is_told_to_end(fresh_shell: Shell) -> None:
    process = fresh_shell.start("serve")
    try:
        deadline = time.monotonic() + 60
        while (running := homes.read_server(fresh_shell.home)) is None or not healthy(running.url):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert running.pid == process.pid
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()
