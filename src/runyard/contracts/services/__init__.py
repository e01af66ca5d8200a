"""What the processes of a service agree on: the settings of its workers, its keys and tokens, its environments."""
