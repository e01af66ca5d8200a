"""What Horovod keeps for all frameworks, under the names by which scripts import it."""
