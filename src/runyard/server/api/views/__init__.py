"""Routes for looking at runs: beside one another."""
