"""Models without code: one module for each framework, behind the interface in `base`."""
