"""azureml.opendatasets, from `runyard.sdk.tables`."""

from runyard.sdk.tables.open_datasets import (
    MNIST,
    Diabetes,
    NoaaIsdWeather,
    NycTlcGreen,
    NycTlcYellow,
    PublicHolidays,
)

__all__ = ["MNIST", "Diabetes", "NoaaIsdWeather", "NycTlcGreen", "NycTlcYellow", "PublicHolidays"]
