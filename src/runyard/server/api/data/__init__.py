"""Routes of data: datasets, and addresses that are found elsewhere."""
