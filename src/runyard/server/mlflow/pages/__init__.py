"""MLflow's own pages over the store: the wheel of `mlflow` has them built, and they call MLflow's protocol here.

A workspace's tracking address is theirs too, so that the links which MLflow's client prints lead to them. What they
call is MLflow's protocol under other addresses (`calls`), and requests of their own (`reads`, `graphql`, `absent`).
"""

from __future__ import annotations

from runyard.server.mlflow.pages import absent, graphql, reads

ROUTES = (reads, graphql, absent)
"""What pages ask for with a session; the pages themselves are in `front`."""
