"""What runs beside the user's script: it prepares, launches, supervises and ships. Only the standard library."""
