"""What a workspace registers: environments, environment maps, compute targets."""
