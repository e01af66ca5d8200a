"""Routes for looking: the table of runs, runs beside one another, logs by lines, source, services; and signing in."""
