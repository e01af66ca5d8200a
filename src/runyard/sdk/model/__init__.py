"""Models: registering what was trained, finding it again, and fetching its files."""
