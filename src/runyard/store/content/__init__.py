"""Bytes: objects, growing files, snapshots, wheels; deletion and the space that they take."""
