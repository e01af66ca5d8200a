"""`python -m runyard.serving.gateway settings.json`: pass requests on until SIGTERM, then drain."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from runyard.serving import streams
from runyard.serving.gateway.gateway import Gateway
from runyard.serving.listener import CannotListen
from runyard.system.json_files import BadFile, read_object


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m runyard.serving.gateway settings.json", file=sys.stderr)
        return 2
    streams.install()
    try:
        gateway = Gateway(read_object(Path(arguments[0])))
        return asyncio.run(gateway.serve())
    except (BadFile, OSError, CannotListen) as error:
        print(f"The gateway cannot start: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
