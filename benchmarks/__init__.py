"""How fast Runyard is, beside the tools that people use today: each module prints a table with the peers in one run."""
