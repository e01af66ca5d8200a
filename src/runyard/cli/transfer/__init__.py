"""Whole histories from other trackers and to them: `runyard import`, `runyard export`."""
