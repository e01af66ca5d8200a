"""Snapshots: reading a folder, hashing it, uploading it, and restoring it."""
