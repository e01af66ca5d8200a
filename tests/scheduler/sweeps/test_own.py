"""Classes of the user's own: one that cannot be used is refused when the sweep is submitted, with its own words."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from runyard.contracts.sweeps.sweep import BadSweep, Sweep
from runyard.scheduler.sweeps import own
from runyard.scheduler.sweeps.policies.policy import Policy, policy_of
from runyard.scheduler.sweeps.samplers.sampler import Sampler, sampler_of

SPACE = {"lr": ["choice", [[1, 2, 3]]]}


def sweep(sampler: str, policy: str = "Default") -> Sweep:
    return Sweep({"name": sampler, "parameter_space": SPACE}, "loss", "minimize", 4, 2, policy={"name": policy})


def test_a_sampler_and_a_policy_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine_to_load.py").write_text(
        textwrap.dedent("""
            from runyard.scheduler.sweeps.policies.policy import Policy
            from runyard.scheduler.sweeps.samplers.sampler import Sampler

            class Last(Sampler):
                def sample(self, number, history):
                    return {name: each.options[-1] for name, each in self.space.items()}

            class Never(Policy):
                def judge(self, trial, interval, others):
                    return "never"
        """)
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    asked = sweep("mine_to_load:Last", "mine_to_load:Never")
    asked.check()
    assert isinstance(sampler_of(asked), Sampler)
    assert sampler_of(asked).sample(0, []) == {"lr": 3}
    assert isinstance(policy_of(asked), Policy)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("not_there_at_all:Sampler", "ModuleNotFoundError"),
        ("json:Sampler", "AttributeError"),
        ("json:JSONDecoder", "no subclass"),
        ("runyard.scheduler.sweeps.samplers.sampler:Sampler", "abstract"),
    ],
)
def test_one_that_cannot_be_used(name: str, words: str) -> None:
    with pytest.raises(BadSweep, match=words):
        sampler_of(sweep(name))


@pytest.mark.parametrize(
    "sampled", [[1], "lr", 7, {1: 2}, {"--": 1}, {"a\nb": 1}, {"lr": float("nan")}, {"lr": object()}]
)
def test_a_sampler_that_gives_what_no_script_can_be_given(sampled: object) -> None:
    with pytest.raises(BadSweep, match=r"sample\(\)"):
        own.checked_parameters(sampled)


@pytest.mark.parametrize("judged", [True, False, 3, "", {"why": "slow"}])
def test_a_policy_that_gives_no_reason(judged: object) -> None:
    with pytest.raises(BadSweep, match=r"judge\(\)"):
        own.checked_verdict(judged)
