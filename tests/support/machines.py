"""Machines that are apart, made of this one: each has a host name, a network, processes and a disk of its own.

A machine is a set of Linux namespaces with a first process, and all of it ends when that process does. The tests are
its parent, so nothing is left of it even when they are killed. A switch, in namespaces of its own, joins the machines
and this one to a network that leads nowhere else.
"""

from __future__ import annotations

import ipaddress
import json
import os
import random
import secrets
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest
from tests.support.ground import Ground

from runyard.system.processes import end_with_parent

_PROGRAMS = ("ip", "unshare", "nsenter", "mount")
_NAMESPACES = ("--net", "--uts", "--ipc", "--mount", "--pid")

_FIRST_PROCESS = """
import os, signal, socket, subprocess, sys
name, *disks = sys.argv[1:]
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
socket.sethostname(name)
for disk in disks:
    subprocess.run(["mount", "-t", "tmpfs", "none", disk], check=True)
subprocess.run(["mount", "--bind", "/dev/null", "/etc/resolv.conf"], check=True)
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
print("up", flush=True)
while signal.sigwait([signal.SIGCHLD]):
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
"""
"""Mounts the machine's own disks, and then looks after orphans, as the first process of a machine must. Nobody is asked
for the names of other machines: who could tell them cannot be reached."""


class Machine:
    """A machine that runs. The folders `disks` are empty on it, and only it sees what is written there."""

    def __init__(self, name: str, disks: Sequence[Path] = ()) -> None:
        first = [sys.executable, "-I", "-S", "-c", _FIRST_PROCESS, name, *map(str, disks)]
        self._process = subprocess.Popen(
            ["unshare", *_NAMESPACES, "--fork", "--kill-child=KILL", "--mount-proc", "--", *first],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=end_with_parent(),
        )
        assert self._process.stdout is not None
        if self._process.stdout.readline() != b"up\n":
            raise OSError(self._process.communicate()[1].decode("utf-8", "replace").strip())
        [child] = psutil.Process(self._process.pid).children()
        self.pid = child.pid  # of its first process, as this machine knows it

    def command(self, words: Sequence[str]) -> list[str]:
        """What to run here so that these words are run there."""
        return ["nsenter", f"--target={self.pid}", *_NAMESPACES, "--", *words]

    def ip(self, *words: str) -> None:
        _run(self.command(["ip", *words]))

    def seen(self, path: Path) -> Path:
        """Where this machine sees a file of that one."""
        return Path(f"/proc/{self.pid}/root{path}")

    def off(self) -> None:
        """As a power cut would: every process of it is gone, and its network with them."""
        self._process.kill()
        self._process.communicate()


class MachinesApart(Ground):
    """Each node is a machine of its own, that neither shares `hidden` with this one nor with the others."""

    def __init__(self, hidden: Path) -> None:
        self._disks = (hidden, Path("/dev/shm"))
        subnet = _unused_subnet()
        self._length = subnet.prefixlen
        self.address, *self._free = map(str, subnet.hosts())
        self._addresses: dict[str, str] = {}
        self.running: dict[str, Machine] = {}
        self._switch = Machine("switch")
        try:
            self._switch.ip("link", "add", "bridge", "type", "bridge")
            self._switch.ip("link", "set", "bridge", "up")
            own = f"ry{secrets.token_hex(4)}"
            _run(["ip", "link", "add", own, "type", "veth", "peer", "name", "here", "netns", str(self._switch.pid)])
            _run(["ip", "address", "add", f"{self.address}/{self._length}", "dev", own])
            _run(["ip", "link", "set", own, "up"])
            self._switch.ip("link", "set", "here", "master", "bridge", "up")
        except OSError:
            self.close()
            raise

    def host_name(self, node: str) -> str:
        return node

    def address_of(self, node: str) -> str:
        if node not in self._addresses:
            self._addresses[node] = self._free.pop(0)
        return self._addresses[node]

    def machine(self, node: str) -> Machine:
        """The machine of a node, started if it is off."""
        if node not in self.running:
            made = self.running[node] = Machine(node, self._disks)
            ends = [_port(node), "netns", str(self._switch.pid)], ["peer", "name", "eth0", "netns", str(made.pid)]
            _run(["ip", "link", "add", *ends[0], "type", "veth", *ends[1]])
            self._switch.ip("link", "set", _port(node), "master", "bridge", "up")
            made.ip("address", "add", f"{self.address_of(node)}/{self._length}", "dev", "eth0")
            made.ip("link", "set", "eth0", "up")
        return self.running[node]

    def command(self, node: str, words: list[str]) -> list[str]:
        return self.machine(node).command(words)

    def power_off(self, node: str) -> None:
        if node in self.running:
            self.running.pop(node).off()

    def cut_off(self, node: str) -> None:
        """Pull the cable of a node: it goes on, and nothing that is sent to it or by it arrives or comes back."""
        self._switch.ip("link", "set", _port(node), "down")

    def connect(self) -> None:
        """Plug all cables in again."""
        for node in self.running:
            self._switch.ip("link", "set", _port(node), "up")

    def close(self) -> None:
        for node in list(self.running):
            self.power_off(node)
        self._switch.off()


def machines_apart(hidden: Path) -> MachinesApart:
    """A ground on which nodes see neither `hidden` nor each other's disks. Skips where there can be none."""
    if os.geteuid() != 0 or sys.platform != "linux":
        pytest.skip("machines that are apart need Linux and root")
    missing = [program for program in _PROGRAMS if shutil.which(program) is None]
    if missing:
        pytest.skip(f"machines that are apart need {', '.join(missing)}: apt-get install iproute2 util-linux")
    try:
        return MachinesApart(hidden)
    except OSError as error:
        pytest.skip(f"this machine does not let others be made of it: {error}")


def _port(node: str) -> str:
    """The switch's end of a node's cable; an interface's name has at most 15 characters."""
    return node[-15:]


def _unused_subnet() -> ipaddress.IPv4Network:
    """One of 10.0.0.0/8 that this machine knows no way to yet."""
    said = json.loads(_run(["ip", "-4", "-json", "route", "show", "table", "all"]))
    known = [ipaddress.ip_network(each["dst"]) for each in said if each["dst"] != "default"]
    while True:
        found = ipaddress.IPv4Network((random.randrange(10 << 24, 11 << 24, 256), 24))
        if not any(found.overlaps(each) for each in known):
            return found


def _run(words: Sequence[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout
