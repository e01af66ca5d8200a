"""The errors of Horovod that scripts catch by name."""

from __future__ import annotations


class HorovodInternalError(RuntimeError):
    """A collective could not be done: ranks disagree, or one is gone. The message names tensor and ranks."""


class HostsUpdatedInterrupt(RuntimeError):
    """The hosts of an elastic job have changed. Runyard restarts the run instead, so it is never raised here."""

    def __init__(self, skip_sync: bool = False) -> None:
        super().__init__()
        self.skip_sync = skip_sync


class NotInitialized(ValueError):
    """A question that has no answer before `hvd.init()`."""

    def __init__(self) -> None:
        super().__init__("Horovod has not been initialized; use hvd.init().")
