"""The scheduler: which run starts when, and the states that a run goes through."""
