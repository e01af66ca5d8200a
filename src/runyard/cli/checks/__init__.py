"""What `runyard doctor` looks at."""
