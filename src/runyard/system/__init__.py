"""Access to the operating system: processes, folders, JSON files. The standard library alone."""
