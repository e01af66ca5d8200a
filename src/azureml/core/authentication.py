"""azureml.core.authentication, from `runyard.sdk.workspace.authentication`."""

from runyard.sdk.workspace.authentication import (
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
