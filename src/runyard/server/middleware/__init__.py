"""What every request passes: authentication, limits, versions, problems, meters."""
