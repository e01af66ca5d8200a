"""What clients are sent: documents, downloads, and lists in pages."""
