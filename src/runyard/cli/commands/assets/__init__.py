"""Commands of datastores, sweeps and secrets."""
