"""Packages that bring an engine, laid out as an installer would: a module, and metadata with its entry point."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "engines" / "writing.md"


def example() -> str:
    """The engine that the documentation shows."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return str(code)


def install(folder: Path, name: str, module: str, code: str | None, value: str, package: str = "") -> None:
    """Install a package of one module into a folder. `value` is what its entry point leads to."""
    package = package or module
    folder.mkdir(parents=True, exist_ok=True)
    if code is not None:
        (folder / f"{module}.py").write_text(code, "utf-8")
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", "utf-8")
    (metadata / "entry_points.txt").write_text(f"[runyard.engines]\n{name} = {value}\n", "utf-8")


def install_example(folder: Path) -> None:
    install(folder, "processes", "runyard_processes", example(), "runyard_processes:DESCRIPTION", "runyard-processes")


def install_broken(folder: Path) -> None:
    """One package of each kind that cannot be used."""
    fine = "from runyard.contracts.engines import EngineDescription\n"
    install(folder, "missing", "broken_missing", None, "broken_missing:ENGINE")
    install(folder, "raising", "broken_raising", "raise ValueError('no licence')", "broken_raising:ENGINE")
    install(folder, "leaving", "broken_leaving", "raise SystemExit('bye')", "broken_leaving:ENGINE")
    install(folder, "text", "broken_text", "ENGINE = 'an engine'", "broken_text:ENGINE")
    install(
        folder, "slurm", "broken_slurm", f"{fine}ENGINE = EngineDescription('slurm', 'X', 'x:X')", "broken_slurm:ENGINE"
    )
    twice = f"{fine}ENGINE = EngineDescription('twice', 'Twice', 'x:X')"
    install(folder, "twice", "broken_first", twice, "broken_first:ENGINE")
    install(folder, "twice", "broken_second", twice, "broken_second:ENGINE")
    hollow = f"{fine}ENGINE = EngineDescription('hollow', 'Hollow', 'broken_hollow:nothing')"
    install(folder, "hollow", "broken_hollow", hollow, "broken_hollow:ENGINE")
