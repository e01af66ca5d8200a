"""Arguments that stand for data: a run configuration holds their placeholders, the node gets a variable."""

from __future__ import annotations

INPUT, OUTPUT = "DatasetConsumptionConfig:", "DatasetOutputConfig:"
VARIABLE = "AZUREML_DATAREFERENCE_"


def variable(argument: str) -> str:
    """An argument as the node gets it: one that stands for an input or an output becomes the variable with its path.

    >>> variable("DatasetConsumptionConfig:mnist"), variable("--lr")
    ('$AZUREML_DATAREFERENCE_mnist', '--lr')
    """
    for placeholder in (INPUT, OUTPUT):
        if argument.startswith(placeholder):
            return f"${VARIABLE}{argument[len(placeholder) :]}"
    return argument
