"""From a specification to an interpreter: builders behind one seam (`builder`), and the cache of what they built.

It works beside the user's script, in the node runner: Python 3.8 and the standard library, until a builder needs more.
"""
