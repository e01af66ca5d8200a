"""The health check: an answer, no answer, and none in time."""

from __future__ import annotations

import socket
import threading

from tests.support.waiting import wait_until

from runyard.contracts.services.settings import Probes
from runyard.node.services.probe import Prober, answers


def test_a_service_that_answers_hangs_or_is_not_there() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        assert not answers("127.0.0.1", port, 0.1), "nobody accepts"

        def answer() -> None:
            while True:
                try:
                    peer, _ = listening.accept()
                except OSError:
                    return
                with peer:
                    peer.recv(1000)
                    peer.sendall(b"HTTP/1.1 200 OK\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        wait_until(lambda: answers("127.0.0.1", port, 5.0))
        prober = Prober("0.0.0.0", Probes(period_seconds=0.01, failure_threshold=2))
        assert not prober.look(port)
        listening.shutdown(socket.SHUT_RDWR)
    wait_until(lambda: prober.look(port), "failures in a row")
    prober.reset()
    assert prober.failures == 0
