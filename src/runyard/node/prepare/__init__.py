"""Before the script starts: the working folder, the environment, the data, the former outputs."""
