"""What a node runner records of its node and of the run's processes, besides what the run itself logs."""
