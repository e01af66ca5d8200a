"""HTML views for notebooks: a small table, with every text escaped."""

from __future__ import annotations

import sys
from typing import Sequence, Tuple, Union

Cell = Union[str, int, None, Tuple[str, str]]
"""A text, or a link: address and text."""


def table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<table style="width:100%"><tr>{head}</tr>{body}</table>'


def link(address: str, text: str) -> tuple[str, str]:
    return address, text


def escape(text: object) -> str:
    from html import escape as escaped

    return escaped("" if text is None else str(text), quote=True)


def _cell(cell: Cell) -> str:
    if isinstance(cell, tuple):
        address, text = cell
        return f'<a href="{escape(address)}" target="_blank" rel="noopener">{escape(text)}</a>'
    return escape(cell)


def in_kernel() -> bool:
    """Whether the code runs in a Jupyter kernel: a plain interpreter has no IPython, a terminal's has no kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None
