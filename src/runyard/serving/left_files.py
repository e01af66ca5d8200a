"""Files that the processes of a service leave for others: their status, their numbers.

Readers see the old file or the new one. Where it cannot be written, on a full disk say, the old one stays and the
process goes on: to answer matters more than to be seen.
"""

from __future__ import annotations

import json
import os


def leave(path: str, document: object) -> bool:
    """Write a document as JSON; whether it could be."""
    aside = f"{path}.new"
    try:
        with open(aside, "w", encoding="utf-8") as file:
            json.dump(document, file)
        os.replace(aside, path)
    except OSError:
        return False
    return True
