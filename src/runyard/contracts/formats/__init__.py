"""File formats of other programs that Runyard reads or writes."""
