"""The Slurm engine: a gang is one job, whose batch script becomes the runner of node 0 and starts the others."""
