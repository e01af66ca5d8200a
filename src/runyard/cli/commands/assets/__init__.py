"""Commands of sweeps and secrets."""
