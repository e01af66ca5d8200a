"""Starts the node runner: `python -I -S <sdk folder>/runyard/node <run folder> [--rescue]`; or, with `--nursery`, the
process that starts one after the other (`runyard.node.nursery`).
"""

import sys

if not __package__:  # started as a folder, which Python has put first on the path: the packages are two levels up
    import os

    sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Before anything that takes time to load, so that a stop that comes early is not lost.
from runyard.node.signals import Signals

if __name__ == "__main__":
    if sys.argv[1:2] == ["--nursery"]:
        from runyard.node.nursery import main as serve

        sys.exit(serve())
    signals = Signals()
    from runyard.node.runner import main

    sys.exit(main(sys.argv[1:], signals))
