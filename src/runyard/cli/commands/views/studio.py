"""`runyard studio`: a link that signs a browser in, once; and signing all of them out."""

from __future__ import annotations

import os
import sys
import webbrowser
from typing import Annotated

from runyard.cli.options import JsonOption
from runyard.cli.output import formatting, screen
from runyard.cli.parameters import Option


def studio(
    browser: Annotated[bool, Option("--browser/--no-browser", help="Open it in a browser, where there is one.")] = True,
    sign_out: Annotated[bool, Option("--sign-out", help="Sign every browser out instead.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Look at runs in a browser: print a link that signs it in, and open it."""
    from runyard.cli import api

    server = api.connect()
    if sign_out:
        ended = server.end_studio_sessions()
        if as_json:
            screen.document({"ended": ended})
        else:
            print(f"Signed out: {formatting.count(ended, 'browser')}. Links that were not used yet are void.")
        return
    link = server.studio_link()
    opened = browser and not as_json and _has_screen() and webbrowser.open(link["url"])
    if as_json:
        screen.document(link)
        return
    print(link["url"])
    if opened:
        print("It is open in your browser.", file=sys.stderr)
    else:
        print("The link signs one browser in, once, within ten minutes.", file=sys.stderr)


def _has_screen() -> bool:
    """Whether a browser with windows can be had: one in the terminal would be of no use."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
