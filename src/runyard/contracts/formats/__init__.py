"""Formats of other programs: TensorBoard's event files, protocol buffers, the arguments of scripts."""
