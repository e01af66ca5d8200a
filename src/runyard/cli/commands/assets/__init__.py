"""Commands of what a workspace holds beside runs and data: models, services, sweeps, datastores, secrets."""
