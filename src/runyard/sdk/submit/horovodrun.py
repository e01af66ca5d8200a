"""Commands that start Horovod's own launcher: `horovodrun -np 4 python train.py`.

Runyard starts the ranks itself, so the launcher's number of processes becomes the run's distribution, and what is left
is the command of each rank. What cannot be translated is refused: the launcher is not there, or would start the ranks
of every node again.
"""

from __future__ import annotations

import os
import re
import shlex

from runyard.contracts.distribution import MPI, PLAIN, Distribution
from runyard.sdk.exceptions import UserErrorException

_PROGRAM = "horovodrun"
_MENTION = re.compile(r"(?:^|[\s;&|(/])horovodrun(?:$|[\s;&|)])")
_SHELL = re.compile(r"[;&|<>`$()\n]")
_COUNT = ("-np", "--num-proc")
_HOSTS = ("-H", "--hosts")
_WITHOUT_EFFECT = ("--gloo", "--mpi", "--verbose", "--disable-cache", "--tcp", "--no-timeline-mark-cycles")
_VARIABLES = {
    "--start-timeout": "HOROVOD_START_TIMEOUT",
    "--fusion-threshold-mb": "HOROVOD_FUSION_THRESHOLD",
    "--stall-check-warning-time-seconds": "HOROVOD_STALL_CHECK_TIME_SECONDS",
    "--stall-check-shutdown-time-seconds": "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS",
}
_LOCAL = ("localhost", "127.0.0.1")


def translate(command: str, distribution: Distribution) -> tuple[str, Distribution, dict[str, str]]:
    """What each rank runs, how many there are, and the variables that stand for the launcher's options.

    >>> translate("horovodrun -np 2 python train.py --lr 0.1", Distribution())[:2]
    ('python train.py --lr 0.1', Distribution(kind='mpi', nodes=1, processes=2, backend='', workers=0, \
parameter_servers=0))
    >>> translate("python train.py", Distribution())[0]
    'python train.py'
    """
    if not _MENTION.search(command):
        return command, distribution, {}
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    before = _words_before(command)
    if not words or os.path.basename(words[0]) != _PROGRAM or _SHELL.search(before):
        raise _refused("it is only a part of the command")
    count, hosts, variables, place = 0, "", {}, 1
    while place < len(words) and words[place].startswith("-"):
        option, joined, value = words[place].partition("=")
        place += 1
        if option in _WITHOUT_EFFECT:
            continue
        if option not in (*_COUNT, *_HOSTS, *_VARIABLES):
            raise _refused(f"its option {option} has no meaning here")
        if not joined:
            if place == len(words):
                raise _refused(f"its option {option} has no value")
            value, place = words[place], place + 1
        if option in _COUNT:
            count = _whole(option, value)
        elif option in _HOSTS:
            hosts = value
        else:
            size = _whole(option, value) * (1 << 20 if option == "--fusion-threshold-mb" else 1)
            variables[_VARIABLES[option]] = str(size)
    if place == len(words):
        raise _refused("it starts no program")
    elsewhere = [host for host in hosts.split(",") if host and host.partition(":")[0] not in _LOCAL]
    if elsewhere:
        raise _refused(f"it names hosts ({elsewhere[0]}), and those of a run are its target's")
    return " ".join(map(shlex.quote, words[place:])), _spread(distribution, count), variables


def _spread(distribution: Distribution, count: int) -> Distribution:
    if not distribution.gang:
        if not count:
            raise _refused("it does not say how many processes to start (-np)")
        return Distribution(MPI, 1, count)
    ranks = distribution.processes or distribution.nodes
    if distribution.kind not in (MPI, PLAIN):
        raise _refused(f"the run is distributed by {distribution.kind} already")
    if count and count != ranks:
        raise _refused(f"it starts {count} processes, and the run's configuration {ranks}")
    return Distribution(MPI, distribution.nodes, ranks)


def _words_before(command: str) -> str:
    """The command without what is quoted in it."""
    return re.sub(r"'[^']*'|\"[^\"]*\"", "", command)


def _whole(option: str, value: str) -> int:
    if not value.isdigit() or int(value) < 1:
        raise _refused(f"its option {option} takes a number, not {value!r}")
    return int(value)


def _refused(why: str) -> UserErrorException:
    return UserErrorException(
        f"horovodrun cannot be translated: {why}. Runyard starts the ranks itself: give the command of one rank, such "
        "as 'python train.py', with distributed_job_config=MpiConfiguration(process_count_per_node=2, node_count=2)."
    )
