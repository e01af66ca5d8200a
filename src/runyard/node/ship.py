"""The former name of `runyard.node.delivery.interactive_delivery`.

A process that loaded Runyard before an upgrade starts the delivery of its interactive runs by this name.
"""

import sys

from runyard.node.delivery.interactive_delivery import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
