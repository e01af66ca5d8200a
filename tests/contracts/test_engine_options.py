"""If these fail, a target is made that no run can ever use, and nobody is told until one tries."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.contracts.engine_options import BadOptions
from runyard.contracts.engines import BUILT_IN


def test_what_holds_something_is_kept() -> None:
    given = {"partition": "gpu", "account": None, "qos": "", "commands": "/opt/slurm/bin"}
    assert BUILT_IN["slurm"].check_options(given) == {"partition": "gpu", "commands": "/opt/slurm/bin"}
    assert BUILT_IN["slurm"].check_options({}) == {}
    texts = {"exclusive": "True", "time_margin": "60", "sbatch": "--nice=10"}
    assert BUILT_IN["slurm"].check_options(texts) == {"exclusive": True, "time_margin": 60, "sbatch": "--nice=10"}
    ray = {"address": "10.0.0.1:6379", "resources": {"special": 0.5}}
    assert BUILT_IN["ray"].check_options(ray) == ray
    assert BUILT_IN["local"].check_options({}) == {}


@pytest.mark.parametrize(
    ("engine", "options", "message"),
    [
        ("local", {"partition": "gpu"}, "takes no options"),
        ("slurm", {"partion": "gpu"}, "no option 'partion'. Did you mean 'partition'"),
        ("slurm", {"zzz": "gpu"}, "It takes: partition, account"),
        ("slurm", {"partition": 3}, "3 is no partition for the engine slurm: it is a text"),
        ("slurm", {"partition": "gpu\n#SBATCH --uid=0"}, "in one line"),
        ("slurm", {"commands": "bin"}, "the whole path"),
        ("slurm", {"exclusive": "perhaps"}, "true or false"),
        ("slurm", {"time_margin": -1}, "seconds from 0 on"),
        ("slurm", {"time_margin": "soon"}, "seconds from 0 on"),
        ("ray", {}, "needs the option address: .*host:port"),
        ("ray", {"address": " "}, "is no address"),
        ("ray", {"address": "x" * 2000}, "is no address"),
        ("ray", {"address": "h:1", "resources": {"special": 0}}, "amounts above 0"),
        ("ray", {"address": "h:1", "resources": ["special"]}, "amounts above 0"),
        ("ray", {"address": "h:1", "resources": {"special": True}}, "amounts above 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(engine: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadOptions, match=message):
        BUILT_IN[engine].check_options(options)
