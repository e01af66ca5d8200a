"""Commands that show runs: in other programs, and beside one another."""
