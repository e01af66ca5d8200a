"""The pages of the studio, one module each. A page that is not listed here is not served."""

from __future__ import annotations

from runyard.server.studio.pages import (
    about,
    compare,
    compute,
    data,
    datastores,
    environments,
    experiments,
    models,
    run,
    runs,
    services,
    sweeps,
)

PAGES = (about, runs, run, compare, experiments, sweeps, models, services, data, datastores, environments, compute)
