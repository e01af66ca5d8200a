"""What runs beside the user's script: it prepares, launches, supervises and delivers. Only the standard library."""
