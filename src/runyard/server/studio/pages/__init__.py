"""The pages of the studio, one module each. A page that is not listed here is not served."""

from __future__ import annotations

from runyard.server.studio.pages import compare, experiments, run, runs

PAGES = (runs, run, compare, experiments)
