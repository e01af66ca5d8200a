"""Entry scripts: loading one, calling its `run`, and saying what went wrong in it."""
