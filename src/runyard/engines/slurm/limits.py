"""What the limits of a site's accounts and QOS mean for a job: Slurm names them by codes, people need a way out."""

from __future__ import annotations

import re

_CODE = re.compile(r"\b(?:QOS|Assoc)(?:Grp|Max|Min|Usage)\w+|\bMax\w+PerAccount\b")

_WAYS_OUT = (
    # what a code holds, in the order in which it is looked for
    (r"SubmitJob", "it can be submitted when other jobs end"),
    (r"WallDurationPerJob", "lower max_run_duration_seconds, or set the target's option `time`"),
    (r"MinutesPerJob", "ask for less time, fewer nodes or a smaller vm_size"),
    (r"PerJob", "ask for fewer nodes or a smaller vm_size"),
    (r"PerNode", "take a smaller vm_size"),
    (r"^QOSMin", "ask for more nodes or a larger vm_size, or set another `qos` for the target"),
    (r"PerUser|^AssocMaxJobs", "it starts when other jobs of yours end"),
    (r"PerAccount$", "it starts when other jobs of the account end"),
    (r"(?<!Run)Minutes|GrpWall|Usage", "what may be used is used up: ask your administrators for more"),
    (r"Grp", "it starts when other jobs under that limit end, if it fits the limit at all"),
)


def codes(text: str) -> list[str]:
    """The limits that a message of Slurm names.

    >>> codes("QOSMaxWallDurationPerJobLimit. Job violates accounting/QOS policy (job submit limit).")
    ['QOSMaxWallDurationPerJobLimit']
    """
    return _CODE.findall(text)


def way_out(code: str) -> str:
    """What somebody can do whose job has come to this limit; nothing for one that is not known.

    >>> way_out("QOSMaxNodePerJobLimit")
    'ask for fewer nodes or a smaller vm_size'
    """
    return next((help for sign, help in _WAYS_OUT if re.search(sign, code)), "")


def of_submitting(text: str) -> bool:
    """Whether Slurm takes no further job now, because too many wait or run already.

    >>> of_submitting("AssocGrpSubmitJobsLimit. Job violates accounting/QOS policy (job submit limit).")
    True
    """
    return any("SubmitJob" in code for code in codes(text))
