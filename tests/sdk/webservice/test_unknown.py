"""A service of a kind that a newer version has made can be looked at, and says what to do."""

from __future__ import annotations

from functools import partial

import pytest
from tests.sdk.webservice import told

from runyard.sdk.webservice.unknown import UnknownWebservice
from runyard.sdk.webservice.webservice import Webservice
from runyard.sdk.workspace.workspace import Workspace


def test_it_is_shown_and_says_what_to_do(workspace: Workspace) -> None:
    service = Webservice._told(workspace, told.service("functions"))
    assert isinstance(service, UnknownWebservice)
    assert service.state == "Healthy"
    for call in (partial(service.run, "{}"), partial(service.update, 1), service.get_token):
        with pytest.raises(NotImplementedError, match=r"'functions'.*Upgrade Runyard.*4321/score"):
            call()
