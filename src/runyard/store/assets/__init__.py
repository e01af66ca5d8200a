"""What a workspace registers: environments, their maps, targets, datastores, datasets, models, services, sweeps."""
