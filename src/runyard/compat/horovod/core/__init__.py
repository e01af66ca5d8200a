"""What every framework's part shares: who is which rank, and the agreement on what is done next."""
