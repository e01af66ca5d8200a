"""`python -m runyard.server` serves one home folder in the foreground."""

import sys

from runyard.server.process import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
