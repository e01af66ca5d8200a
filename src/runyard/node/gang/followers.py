"""The leader's connections to its followers: accepts them, receives their messages, and notices when one is lost."""

from __future__ import annotations

import socket
import threading
from typing import Any, Callable

from runyard.node.gang.link import LOST, Link, LinkLost, Message, Stranger, keep_beating, welcome
from runyard.node.log import log_line

OnMessage = Callable[[int, Message], None]


class FollowerConnections:
    """Listens on a free port of `address`. `on_message` is called, from any thread, with the node and its message; the
    loss of a connection is one too (`LOST`), with the reason. Each newcomer is sent `greeting`."""

    def __init__(self, address: str, secret: str, nodes: int, greeting: Message, on_message: OnMessage) -> None:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._listener = socket.create_server((address, 0), family=family, backlog=min(nodes, 1024))
        port = self._listener.getsockname()[1]
        self.place = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        self._secret, self._nodes, self._greeting, self._on_message = secret, nodes, greeting, on_message
        self._links: dict[int, Link] = {}
        self._changing = threading.Lock()
        self._closed = threading.Event()
        keep_beating(self._current, self._closed)
        threading.Thread(target=self._accept, name="accept", daemon=True).start()

    def send(self, node: int, kind: str, **more: Any) -> None:
        with self._changing:
            link = self._links.get(node)
        if link is not None:
            link.send(kind, **more)

    def send_all(self, kind: str, **more: Any) -> None:
        for link in self._current():
            link.send(kind, **more)

    def last_message(self, node: int) -> float:
        """When the last message of a node came, heartbeats included; of time.monotonic()."""
        with self._changing:
            return self._links[node].received_at

    def close(self) -> None:
        self._closed.set()
        self._listener.close()
        for link in self._current():
            link.close()

    def _current(self) -> list[Link]:
        with self._changing:
            return list(self._links.values())

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return  # it was closed
            threading.Thread(target=self._serve, args=(connection,), name="follower", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            link = welcome(connection, self._secret)
        except (LinkLost, Stranger) as why:
            log_line(f"a connection was not accepted: {why}")
            connection.close()
            return
        with self._changing:
            refused = link.node in self._links or not 0 < link.node < self._nodes
            if not refused:
                self._links[link.node] = link
        if refused:
            log_line(f"node {link.node} was not let in: it is here already, or is none of this run")
            link.close()
            return
        link.send("welcome", **self._greeting)
        try:
            while True:
                self._on_message(link.node, link.receive())
        except LinkLost as why:
            link.close()
            self._on_message(link.node, {"say": LOST, "why": str(why)})
