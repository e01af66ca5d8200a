"""What the operating system gives: processes, folders, files of JSON. The standard library alone."""
