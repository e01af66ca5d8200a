"""Formats of other programs: TensorBoard's event files, the arguments of scripts."""
