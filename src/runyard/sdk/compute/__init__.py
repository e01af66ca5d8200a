"""`ComputeTarget` and its kinds."""
