"""The options of `docker run` in a run configuration."""

from __future__ import annotations

import pytest

from runyard.environments.containers.arguments import parse
from runyard.environments.problem import EnvironmentProblem


def test_options_are_taken_in_every_way_of_writing_them() -> None:
    asked = parse(
        ["--gpus", "all", "-v", "/a:/b", "--volume=/c:/d:ro", "-e A=1", "-m", "2g", "--cpus=1.5", "--net", "x"]
    )
    assert asked == {
        "gpus": "all",
        "volume": ["/a:/b", "/c:/d:ro"],
        "env": ["A=1"],
        "memory": "2g",
        "cpus": 1.5,
        "network": "x",
    }


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--privileged"], "'--privileged' is not supported"),
        (["--gpu", "all"], "'--gpu' is not supported"),
        (["--memory"], "--memory"),
        (["--cpus", "many"], "many"),
        (["image:1"], "'image:1' is not supported"),
    ],
)
def test_what_cannot_be_taken_is_named(arguments: list[str], word: str) -> None:
    with pytest.raises(EnvironmentProblem) as caught:
        parse(arguments)
    assert word in caught.value.message
    assert caught.value.help
