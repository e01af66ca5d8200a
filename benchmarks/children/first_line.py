"""The script whose start is measured: the first thing it does is to write the time into the file it is given."""

import time

BEGAN = time.time()

if __name__ == "__main__":
    import sys

    with open(sys.argv[1], "w") as file:
        file.write(f"{BEGAN!r}\n")
