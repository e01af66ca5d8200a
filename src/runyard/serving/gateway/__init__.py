"""The gateway of a service that needs a decision per request: which version answers, or that one must be woken."""
