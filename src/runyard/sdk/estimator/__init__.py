"""`Estimator` and the estimators of frameworks: SDK v1's older API for configuring a run."""
