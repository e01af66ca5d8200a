"""Who builds an environment of packages: uv where PyPI has them all, else conda."""

from __future__ import annotations

from pathlib import Path

from runyard.contracts.environment import Specification
from runyard.environments.builder import Builder
from runyard.environments.conda.builder import CondaBuilder
from runyard.environments.conda.names import needs_conda
from runyard.environments.uv.builder import UvBuilder


def choose(specification: Specification, memory: Path | None = None) -> Builder:
    """The builder for a specification of the kind `packages`. `memory`: the folder that remembers the Pythons here."""
    if specification.base_conda_environment or needs_conda(specification):
        return CondaBuilder(otherwise=UvBuilder(memory))
    return UvBuilder(memory, otherwise=CondaBuilder())
