"""`Workspace`: finding it, logging in, and the connection to its server."""
