"""`Run`: one module per group of methods, and the interactive runs that a process leads itself."""
