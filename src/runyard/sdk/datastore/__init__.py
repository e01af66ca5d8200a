"""Datastores as the user's code sees them: named places of a workspace for data."""
