"""If these fail, options that came through a command line mean something else to Slurm."""

from __future__ import annotations

from runyard.engines.slurm.options import Options


def test_options_may_come_as_text() -> None:
    options = Options.from_dict({"exclusive": "true", "sbatch": "--mail-type=END --begin 'now+1hour'", "partition": ""})
    assert options.exclusive
    assert options.sbatch == ("--mail-type=END", "--begin", "now+1hour")
    assert options.partition == ""
    assert Options.from_dict({"sbatch": ["--nice"], "exclusive": False}) == Options(sbatch=("--nice",))
