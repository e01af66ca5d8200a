"""The commit of a folder, for a run's properties. Nothing here fails a submit: no git, no properties."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Mapping

SECONDS = 10.0

FACTS = {
    "AZUREML_GIT_REPOSITORY_URI": ("azureml.git.repository_uri", "mlflow.source.git.repoURL"),
    "AZUREML_GIT_BRANCH": ("azureml.git.branch", "mlflow.source.git.branch"),
    "AZUREML_GIT_COMMIT": ("azureml.git.commit", "mlflow.source.git.commit"),
    "AZUREML_GIT_DIRTY": ("azureml.git.dirty",),
    "AZUREML_GIT_BUILD_ID": ("azureml.git.build_id",),
    "AZUREML_GIT_BUILD_URI": ("azureml.git.build_uri",),
}
"""The variable with a fact (which wins over git), and the properties that it becomes."""

_TOLD_BY_GIT = {name for name in FACTS if "BUILD" not in name}
_ADDRESSES = {name for name in FACTS if name.endswith("_URI")}


def git_properties(folder: Path, environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The git state of a folder as properties of a run."""
    environment = os.environ if environment is None else environment
    known = {variable: environment[variable] for variable in FACTS if environment.get(variable)}
    if _repository(folder) is not None and not known.keys() >= _TOLD_BY_GIT:
        known = {**_ask_git(folder), **known}
    for variable in _ADDRESSES & known.keys():
        known[variable] = without_credentials(known[variable])
    return {name: value for variable, value in known.items() for name in FACTS[variable]}


def without_credentials(url: str) -> str:
    """
    >>> without_credentials("https://me:secret@host/team/code.git")
    'https://host/team/code.git'
    """
    from runyard.contracts.secrets import mask

    # Up to the last @ before the path: passwords may hold characters that should have been escaped.
    return mask(re.sub(r"^([a-z][a-z0-9+.\-]*://)[^/]*@", r"\1", url, flags=re.IGNORECASE))


def _repository(folder: Path) -> Path | None:
    """The nearest parent folder with a .git: looking costs nothing, calling git costs a process."""
    here = folder.resolve()
    return next((place for place in (here, *here.parents) if (place / ".git").exists()), None)


def _ask_git(folder: Path) -> dict[str, str]:
    # One call for commit, branch and changes; the second for the remotes.
    status = _git(folder, "status", "--porcelain=v2", "--branch", "--untracked-files=normal")
    if status is None:
        return {}
    facts: dict[str, str] = {}
    upstream = ""
    for line in status.splitlines():
        if line.startswith("# branch.oid ") and not line.endswith("(initial)"):
            facts["AZUREML_GIT_COMMIT"] = line.split(" ", 2)[2]
        elif line.startswith("# branch.head "):
            facts["AZUREML_GIT_BRANCH"] = line.split(" ", 2)[2].replace("(detached)", "HEAD")
        elif line.startswith("# branch.upstream "):
            upstream = line.split(" ", 2)[2].partition("/")[0]
        elif not line.startswith("#"):
            facts["AZUREML_GIT_DIRTY"] = "True"
    facts.setdefault("AZUREML_GIT_DIRTY", "False")
    remotes = dict(
        line.split(" ", 1) for line in (_git(folder, "config", "--get-regexp", r"^remote\..*\.url$") or "").splitlines()
    )
    for name in (upstream, "origin", *(key[7:-4] for key in remotes)):
        url = remotes.get(f"remote.{name}.url")
        if url:
            facts["AZUREML_GIT_REPOSITORY_URI"] = url
            break
    return facts


def _git(folder: Path, *arguments: str) -> str | None:
    import subprocess

    # GIT_OPTIONAL_LOCKS: reading must not block a git command that the user runs at the same time.
    environment = dict(os.environ, GIT_OPTIONAL_LOCKS="0", LC_ALL="C")
    try:
        asked = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, timeout=SECONDS, env=environment, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.decode("utf-8", "replace") if asked.returncode == 0 else None
