"""The names of the files in the folder `streams` of a run's folder, one per thing that writes."""

from __future__ import annotations

from runyard.contracts import history
from runyard.contracts.distribution import Distribution

RUNNER_LOG, ENVIRONMENT_LOG, MPIRUN_LOG = "runner.log", history.ENVIRONMENT_LOG, "mpirun.log"


def std_log(distribution: Distribution, rank: int) -> str:
    """The file with what one process of the run writes to its standard streams.

    >>> std_log(Distribution(), 0), std_log(Distribution(processes=2), 1)
    ('std_log.txt', 'std_log_process_1.txt')
    """
    return history.rank_log(rank) if distribution.gang else history.SCRIPT_LOG
