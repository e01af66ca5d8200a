"""Starting the processes of a run: programs, variables, ports, GPUs, containers."""
