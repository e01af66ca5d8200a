"""Gangs of real ranks that are started once for all tests that look at what they found."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support import horovod_gang
from tests.support.frameworks import environment
from tests.support.horovod_gang import Gang

SUPPORT = Path(horovod_gang.__file__).parent


@pytest.fixture(scope="session")
def tensorflow_gang(tmp_path_factory: pytest.TempPathFactory) -> Gang:
    """Two nodes of two ranks each, on which every check of `horovod.tensorflow` and of Keras was made."""
    folder = tmp_path_factory.mktemp("tensorflow")
    script = SUPPORT / "horovod_tensorflow_checks.py"
    return horovod_gang.start(
        environment("tensorflow"), script, folder, size=4, nodes=2, RUNYARD_HOROVOD_STUCK_SECONDS="1"
    )


@pytest.fixture(scope="session")
def torch_gang(tmp_path_factory: pytest.TempPathFactory) -> Gang:
    """Two nodes of two ranks each, on which every check of `horovod.torch` was made."""
    folder = tmp_path_factory.mktemp("torch")
    script = SUPPORT / "horovod_torch_checks.py"
    return horovod_gang.start(environment("torch"), script, folder, size=4, nodes=2, RUNYARD_HOROVOD_STUCK_SECONDS="1")
