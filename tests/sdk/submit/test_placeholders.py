"""An argument that stands for data is expanded on the node; every other one stays as it is."""

from __future__ import annotations

from runyard.sdk.submit.placeholders import variable


def test_only_placeholders_become_variables() -> None:
    assert variable("DatasetOutputConfig:out") == "$AZUREML_DATAREFERENCE_out"
    assert variable("DatasetConsumptionConfig:in") == "$AZUREML_DATAREFERENCE_in"
    assert variable("see DatasetOutputConfig:out") == "see DatasetOutputConfig:out"
