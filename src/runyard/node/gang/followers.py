"""The leader's door: lets the followers in, hears what they say, and notices when one is gone."""

from __future__ import annotations

import socket
import threading
from typing import Any, Callable

from runyard.node.gang.link import LOST, Link, LinkLost, Message, Stranger, keep_beating, welcome
from runyard.node.log import say

Tell = Callable[[int, Message], None]


class Door:
    """Listens on a free port of `address`. `tell` is called, from any thread, with the node and what it said; that a
    connection is gone is told as `lost`, with the reason. Each newcomer is greeted with `greeting`."""

    def __init__(self, address: str, secret: str, nodes: int, greeting: Message, tell: Tell) -> None:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._listener = socket.create_server((address, 0), family=family, backlog=min(nodes, 1024))
        port = self._listener.getsockname()[1]
        self.place = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        self._secret, self._nodes, self._greeting, self._tell = secret, nodes, greeting, tell
        self._links: dict[int, Link] = {}
        self._changing = threading.Lock()
        self._over = threading.Event()
        keep_beating(self._known, self._over)
        threading.Thread(target=self._let_in, name="door", daemon=True).start()

    def send(self, node: int, say: str, **more: Any) -> None:
        with self._changing:
            link = self._links.get(node)
        if link is not None:
            link.send(say, **more)

    def send_all(self, say: str, **more: Any) -> None:
        for link in self._known():
            link.send(say, **more)

    def heard(self, node: int) -> float:
        """When a node last said something; of time.monotonic()."""
        with self._changing:
            return self._links[node].heard

    def close(self) -> None:
        self._over.set()
        self._listener.close()
        for link in self._known():
            link.close()

    def _known(self) -> list[Link]:
        with self._changing:
            return list(self._links.values())

    def _let_in(self) -> None:
        while not self._over.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return  # it was closed
            threading.Thread(target=self._hear, args=(connection,), name="follower", daemon=True).start()

    def _hear(self, connection: socket.socket) -> None:
        try:
            link = welcome(connection, self._secret)
        except (LinkLost, Stranger) as why:
            say(f"somebody who knocked was not let in: {why}")
            connection.close()
            return
        with self._changing:
            known = link.node in self._links or not 0 < link.node < self._nodes
            if not known:
                self._links[link.node] = link
        if known:
            say(f"node {link.node} was not let in: it is here already, or is none of this run")
            link.close()
            return
        link.send("welcome", **self._greeting)
        try:
            while True:
                self._tell(link.node, link.receive())
        except LinkLost as why:
            link.close()
            self._tell(link.node, {"say": LOST, "why": str(why)})
