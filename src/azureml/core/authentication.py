"""azureml.core.authentication, from `runyard.sdk.authentication`."""

from runyard.sdk.authentication import (
    AbstractAuthentication,
    ArmTokenAuthentication,
    AzureCliAuthentication,
    AzureMLTokenAuthentication,
    InteractiveLoginAuthentication,
    ServicePrincipalAuthentication,
    TokenAuthentication,
)

__all__ = [
    "AbstractAuthentication",
    "ArmTokenAuthentication",
    "AzureCliAuthentication",
    "AzureMLTokenAuthentication",
    "InteractiveLoginAuthentication",
    "ServicePrincipalAuthentication",
    "TokenAuthentication",
]
