"""What tests of several assets begin with."""

from __future__ import annotations

from runyard.store.content import files
from runyard.store.store import Store


def keep(store: Store, run_id: str, **content: bytes) -> None:
    """Files of a run; `__` in a name stands for `/`."""
    for name, text in content.items():
        stored = store.objects.put([text])
        with store.database.write() as connection:
            files.put(connection, run_id, name.replace("__", "/"), stored)
