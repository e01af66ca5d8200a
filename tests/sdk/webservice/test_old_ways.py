"""The ways before Model.deploy: images are refused with what to use."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice.webservice import Webservice

NOWHERE: Any = None


def test_images_are_refused() -> None:
    for call in (
        lambda: Webservice.deploy(NOWHERE, "birds", ["model.pkl"], object()),  # type: ignore[arg-type]
        lambda: Webservice.deploy_from_model(NOWHERE, "birds", [], object()),  # type: ignore[arg-type]
        lambda: Webservice.deploy_local_from_model(NOWHERE, "birds", [], object()),  # type: ignore[arg-type]
        lambda: Webservice.deploy_from_image(NOWHERE, "birds", object()),
    ):
        with pytest.raises(WebserviceException, match=r"no service from an image.*Model\.deploy"):
            call()
