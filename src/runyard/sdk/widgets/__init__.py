"""`RunDetails`: a live view of a run for notebooks and terminals."""
