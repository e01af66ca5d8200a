"""Histories from other trackers, and to them."""
