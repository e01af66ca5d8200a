"""Which Python an environment is made with."""
