"""Words to the user that must never become an exception: they go to the `runyard` logger, by default standard error."""

from __future__ import annotations

_said: set[str] = set()


def notice(text: str) -> None:
    # Loaded here: `import azureml.core` has no use for it. Not `warnings`, which `-W error` turns into exceptions.
    import logging

    logging.getLogger("runyard").warning("%s", text)


def notice_once(key: str, text: str) -> None:
    """Say it the first time that `key` comes up in this process."""
    if key not in _said:
        _said.add(key)
        notice(text)
