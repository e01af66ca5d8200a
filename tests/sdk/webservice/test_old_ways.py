"""The ways before Model.deploy: images are refused with what to use."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice.webservice import Webservice

NOWHERE: Any = None


def test_images_are_refused() -> None:
    image: Any = object()
    for refused in (
        partial(Webservice.deploy, NOWHERE, "birds", ["model.pkl"], image),
        partial(Webservice.deploy_from_model, NOWHERE, "birds", [], image),
        partial(Webservice.deploy_local_from_model, NOWHERE, "birds", [], image),
        partial(Webservice.deploy_from_image, NOWHERE, "birds", image),
    ):
        with pytest.raises(WebserviceException, match=r"no service from an image.*Model\.deploy"):
            refused()
