"""HyperDrive: sweeps over hyperparameters, with the names of SDK v1."""
