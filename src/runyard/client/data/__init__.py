"""Files of datasets on their way to this machine: requests, transfers, and the cache that keeps what was fetched."""
