"""Routes of what belongs to a run or a workspace besides files and data: models, services, sweeps, secrets."""
