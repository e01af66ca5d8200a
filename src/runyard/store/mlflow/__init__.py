"""What MLflow's protocol asks of the store: its filter language, its searches, its logged and registered models."""
