"""`Estimator` and the estimators of frameworks: the older way to configure a run."""
