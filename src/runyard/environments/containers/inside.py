"""What an image holds that matters for running Python in it: found by a script in a container of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable

from runyard.environments.containers import steps

if TYPE_CHECKING:
    from docker import DockerClient

CONDAS = ("micromamba", "mamba", "conda")

IN_CONDA = "/opt/conda/bin/python"
"""Images with conda have their Python there, some of them not on PATH."""

_PYTHON = (
    "import sys, importlib.util as i; "
    "print('version=%d.%d.%d' % sys.version_info[:3]); "
    "print('pip=%s' % (i.find_spec('pip') and 'yes' or ''))"
)
_SCRIPT = f"""
for name in "$@"; do
  python=$(command -v "$name" 2>/dev/null) && break
done
echo "python=$python"
test -z "$python" || "$python" -c "{_PYTHON}"
for name in {" ".join(CONDAS)}; do
  conda=$(command -v "$name" 2>/dev/null) && break
done
echo "conda=$conda"
"""


@dataclass(frozen=True)
class Inside:
    """Paths are those in the image; empty for what it does not hold."""

    python: str = ""
    version: str = ""
    pip: bool = False
    conda: str = ""


def look(client: DockerClient, image: str, interpreter: str, check: Callable[[], None]) -> Inside:
    """Ask an image. `interpreter` is the Python that is wanted there; python3 does for python."""
    names = [interpreter] if interpreter not in ("", "python", "python3") else ["python", "python3", IN_CONDA]
    step = steps.run(client, image, ["-c", _SCRIPT, "sh", *names], lambda line: None, check, network_mode="none")
    found = dict(line.partition("=")[::2] for line in step.output)
    return Inside(found.get("python", ""), found.get("version", ""), bool(found.get("pip")), found.get("conda", ""))
