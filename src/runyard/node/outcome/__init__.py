"""How a run ended, and why: exit codes, tracebacks, hints."""
