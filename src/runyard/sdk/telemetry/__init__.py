"""Logging from inside a run: metric values, charts, and the journal that they are written to."""
