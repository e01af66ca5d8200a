"""What is observed of runs besides what they log."""
