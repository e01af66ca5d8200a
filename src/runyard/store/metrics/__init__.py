"""Journals as they come in, and the series that become of them: chunks, last values, curves thinned for a screen."""
