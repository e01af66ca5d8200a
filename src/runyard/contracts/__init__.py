"""What the processes of Runyard agree on: states, names, file formats, the wire.

Everything here is pure, needs only the standard library and runs on Python 3.8, because it is loaded next to the
user's script as well as in the server. Nothing here opens a socket or a database.
"""

PROTOCOL = 1
"""The version of the HTTP API in this code. It goes up when an older peer would misunderstand."""

OLDEST_PROTOCOL = 1
"""The oldest protocol that the server still answers."""
