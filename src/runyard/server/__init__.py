"""The HTTP API: one module per resource, auth, live streams, and the process that serves them."""
