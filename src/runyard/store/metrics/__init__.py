"""Journals and the metrics in them."""
