"""The API reference, built by pdoc from the docstrings of what users import (`azureml`). For `make api`.

python -m tests.support.reference <folder>
"""

from __future__ import annotations

import sys
from pathlib import Path

import pdoc
from pdoc.extract import walk_specs

SOURCE = Path(__file__).resolve().parents[2] / "src"


def module_name(path: Path) -> str:
    """
    >>> module_name(SOURCE / "azureml" / "core" / "__init__.py")
    'azureml.core'
    """
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def modules() -> dict[str, Path]:
    """Every module that users import from, by its name."""
    return {module_name(path): path for path in sorted((SOURCE / "azureml").rglob("*.py"))}


def build(folder: Path) -> None:
    specs: list[str] = []
    covered: set[str] = set()
    for name in sorted(modules()):  # of a package with `__all__`, pdoc finds only the modules that are named there
        if name not in covered:
            specs.append(name)
            covered.update(walk_specs([name]))
    pdoc.pdoc(*specs, output_directory=folder)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
    print(f"The reference is in {sys.argv[1]}/index.html")
