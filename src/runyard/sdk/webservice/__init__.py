"""Services: how a model is asked to be served, and what can be done with the service afterwards."""
