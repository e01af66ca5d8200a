"""Whether folders can be mounted here: tests that need it are skipped with the reason elsewhere."""

from __future__ import annotations

import importlib.util
import os
import shutil

import pytest


def missing() -> str:
    """What FUSE lacks here; empty when it is there."""
    if not os.path.exists("/dev/fuse"):
        return "there is no /dev/fuse"
    if not os.access("/dev/fuse", os.R_OK | os.W_OK) or shutil.which("fusermount3") is None:
        return "fuse3 is not installed, or /dev/fuse may not be opened"
    if importlib.util.find_spec("mfusepy") is None:
        return "mfusepy is not installed"
    return ""


needs_fuse = pytest.mark.skipif(bool(missing()), reason=missing() or "FUSE is there")
