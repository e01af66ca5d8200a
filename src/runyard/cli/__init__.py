"""The `runyard` command: one module per family of commands, all of them clients of the HTTP API."""
