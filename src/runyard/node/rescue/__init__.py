"""Taking over what a dead node runner left on the disk."""
