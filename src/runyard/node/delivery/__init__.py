"""Uploading what a run writes, while it is written: logs, journals, outputs. Retries are here."""
