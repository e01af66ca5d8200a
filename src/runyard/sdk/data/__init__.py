"""Which data a run reads and writes: references, paths, datasets."""
