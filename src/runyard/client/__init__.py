"""The HTTP client: requests, streams, problems, and the server process of this machine. Standard library alone."""
