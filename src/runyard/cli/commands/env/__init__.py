"""`runyard env`: environments that are built on this machine, building them, and what stands in for others."""
