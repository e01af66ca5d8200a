"""SDK v1's switch for sending usage data to its makers. Runyard sends none, so there is nothing to switch."""

from __future__ import annotations

import logging

from runyard.sdk.notices import notice_once


def set_diagnostics_collection(
    send_diagnostics: bool = True, verbosity: int = logging.INFO, reason: str = "", path: str | None = None
) -> None:
    """Does nothing: Runyard collects no diagnostics. The first call that enables them logs a notice."""
    if send_diagnostics:
        notice_once(
            "diagnostics", "Runyard collects no diagnostics and sends none: set_diagnostics_collection changes nothing."
        )
