"""`Run`: one module per ability, and the runs that a process leads itself."""
