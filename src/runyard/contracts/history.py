"""Names of the files in a run's history: its logs, and where the logs of a former attempt are.

Node runners deliver files under these names; the server, the SDK and the command line find them by the same names.
"""

from __future__ import annotations

import re

USER_LOGS, SYSTEM_LOGS = "user_logs", "system_logs"
LOG_FOLDERS = (USER_LOGS, "logs", "azureml-logs", SYSTEM_LOGS)
"""Folders whose files are logs, the most interesting to a user first. Each attempt of a run starts them afresh."""

LOG_PREFIXES = tuple(f"{folder}/" for folder in LOG_FOLDERS)

SCRIPT_LOG = "std_log.txt"
"""What a run's only process wrote to its standard streams: its file name, also in the run folder on the node."""

INTERACTIVE_FILE = "user_log.txt"
INTERACTIVE_LOG = f"logs/{INTERACTIVE_FILE}"
"""What an interactive run printed (`Experiment.start_logging`)."""

ENVIRONMENT_LOG = "environment.log"
BUILD_LOG = f"{SYSTEM_LOGS}/{ENVIRONMENT_LOG}"
"""The log of the build of a run's environment."""

SWEEP_LOG = "azureml-logs/hyperdrive.txt"
"""The log of a sweep: what was sampled, started, judged."""

# Compiled with their first use: this module is part of the start of every run.
_MAIN_LOG = rf"{USER_LOGS}/std_log(\.txt|.*_0+\.txt)|azureml-logs/\d\d.*\.txt"
_FORMER = r"attempt_(\d+)/"


def rank_log(rank: int | str) -> str:
    """The file name of what one process of several wrote to its standard streams.

    >>> rank_log(3)
    'std_log_process_3.txt'
    """
    return f"std_log_process_{rank}.txt"


def user_log(file: str) -> str:
    """
    >>> user_log(SCRIPT_LOG)
    'user_logs/std_log.txt'
    """
    return f"{USER_LOGS}/{file}"


def is_process_log(name: str) -> bool:
    """Whether a file of the history is the log of one of the run's processes."""
    return name.startswith(f"{USER_LOGS}/std_log")


def is_main_log(name: str) -> bool:
    """Whether a file of the history is a log of the run's first process, by its name here or in SDK v1.

    >>> is_main_log("user_logs/std_log_process_0.txt"), is_main_log("azureml-logs/70_driver_log.txt")
    (True, True)
    """
    return re.fullmatch(_MAIN_LOG, name) is not None


def system_log(file: str, node: int = 0) -> str:
    """A log that the platform wrote on one of the run's nodes.

    >>> system_log("runner.log"), system_log("runner.log", node=1)
    ('system_logs/runner.log', 'system_logs/runner_node_1.log')
    """
    stem, _, kind = file.rpartition(".")
    return f"{SYSTEM_LOGS}/{stem}_node_{node}.{kind}" if node else f"{SYSTEM_LOGS}/{file}"


def of_attempt(attempt: int, name: str = "") -> str:
    """The folder of a former attempt, or a file in it, below a log folder or the root of the history.

    >>> of_attempt(1, "std_log.txt")
    'attempt_1/std_log.txt'
    """
    return f"attempt_{attempt}/{name}"


def former_log(name: str, attempt: int, folder: str | None = None) -> str:
    """The name of a log after its attempt has ended and another one has begun.

    `folder` is the log folder it is in; by default one of LOG_FOLDERS, or else the folder that holds the file.

    >>> former_log("user_logs/std_log.txt", 1)
    'user_logs/attempt_1/std_log.txt'
    """
    if folder is None:
        top = name.partition("/")[0]
        folder = top if top in LOG_FOLDERS else name.rpartition("/")[0]
    return f"{folder}/{of_attempt(attempt, name[len(folder) + 1 :])}"


def attempt_in(below: str) -> int | None:
    """The former attempt that a file belongs to, by its name below its log folder; None: the current attempt.

    >>> attempt_in("attempt_2/std_log.txt"), attempt_in("std_log.txt")
    (2, None)
    """
    found = re.match(_FORMER, below)
    return int(found.group(1)) if found else None


def is_former(name: str) -> bool:
    """Whether a file below one of the log folders belongs to a former attempt."""
    return "/attempt_" in name
