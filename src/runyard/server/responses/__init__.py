"""What clients are sent: documents and downloads."""
