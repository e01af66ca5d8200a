"""Notices for the user that must never become exceptions: they go to the `runyard` logger, by default to stderr."""

from __future__ import annotations

_shown: set[str] = set()


def notice(text: str) -> None:
    # Loaded here: `import azureml.core` does not need it. Not `warnings`, which `-W error` turns into exceptions.
    import logging

    logging.getLogger("runyard").warning("%s", text)


def notice_once(key: str, text: str) -> None:
    """Log it the first time that `key` comes up in this process."""
    if key not in _shown:
        _shown.add(key)
        notice(text)
