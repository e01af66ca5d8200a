"""Before the script starts: the working folder, the environment, the former outputs."""
