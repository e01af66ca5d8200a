"""Services: runs that stay up, as many as are wanted, of the revision that is wanted."""
