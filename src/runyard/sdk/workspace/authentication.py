"""SDK v1's authentication classes. Runyard has no cloud to log in to: these hold what they are given.

A server of Runyard has one token. Where SDK v1 would fetch one from the cloud (interactive login, command line,
service principal), these classes return Runyard's own: the run's inside a run, else the user's. Where the caller
passes a token, they return that one.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from runyard.contracts import home as homes
from runyard.sdk.exceptions import AuthenticationException

if TYPE_CHECKING:
    import datetime

LASTING = 24 * 60 * 60
"""Lifetime of a token in seconds when nothing is known: Runyard's own do not expire."""


class AccessToken(NamedTuple):
    """A token and when it expires (seconds since 1970), in the form that Azure's libraries expect of a credential."""

    token: str
    expires_on: int


class AbstractAuthentication:
    """The base: it returns Runyard's token."""

    def _token(self) -> str:
        given = os.environ.get("RUNYARD_TOKEN") or os.environ.get("AZUREML_RUN_TOKEN")
        token = given or homes.read_token(homes.home())
        if not token:
            raise AuthenticationException(
                f"There is no token in {homes.home()}: no Runyard server has been started here yet. Try `runyard up`."
            )
        return token

    def get_authentication_header(self) -> dict[str, str]:
        """The header for the server: `Authorization: Bearer ...`."""
        return {"Authorization": f"Bearer {self._token()}"}

    def get_token(self, *scopes: str, **kwargs: Any) -> AccessToken:
        """The token, for any scope."""
        return AccessToken(self._token(), int(time.time()) + LASTING)

    def signed_session(self, session: Any = None) -> Any:
        """A session of the `requests` library with the header."""
        if session is None:
            try:
                import requests
            except ImportError as error:
                raise ImportError("signed_session() needs the requests library: pip install requests") from error
            session = requests.Session()
        session.headers.update(self.get_authentication_header())
        return session

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class InteractiveLoginAuthentication(AbstractAuthentication):
    """No login: every user who can read the token file is the user."""

    def __init__(self, force: bool = False, tenant_id: str | None = None, cloud: str | None = None) -> None:
        self.tenant_id = tenant_id
        self.cloud = cloud


class AzureCliAuthentication(AbstractAuthentication):
    """Azure's command line is not called."""

    def __init__(self, cloud: str | None = None) -> None:
        self.cloud = cloud


class ServicePrincipalAuthentication(AbstractAuthentication):
    """The principal's identity is stored for those who read it; its password is not."""

    def __init__(
        self,
        tenant_id: str,
        service_principal_id: str,
        service_principal_password: str,
        cloud: str = "AzureCloud",
    ) -> None:
        self.tenant_id = tenant_id
        self.service_principal_id = service_principal_id
        self.cloud = cloud


class ArmTokenAuthentication(AbstractAuthentication):
    """A token that the caller passes."""

    def __init__(self, arm_access_token: str, cloud: str = "None") -> None:
        self._given = arm_access_token
        self.cloud = cloud

    def update_arm_access_token(self, new_arm_access_token: str) -> None:
        self._given = new_arm_access_token

    def _token(self) -> str:
        return self._given


class TokenAuthentication(AbstractAuthentication):
    """Tokens from a function of the caller, which is called each time, with the audience."""

    def __init__(self, get_token_for_audience: Callable[[str], str], cloud: str | None = None) -> None:
        self._get_token = get_token_for_audience
        self.cloud = cloud

    def get_token(self, audience: str = "ARM", *scopes: str, **kwargs: Any) -> AccessToken:
        return AccessToken(self._get_token(audience), int(time.time()) + LASTING)

    def _token(self) -> str:
        return self.get_token().token


class AzureMLTokenAuthentication(AbstractAuthentication):
    """The token of a run, and what it is the token of."""

    EXPIRATION_THRESHOLD_IN_SECONDS = 95
    REFRESH_INTERVAL_IN_SECONDS = 30

    def __init__(
        self,
        azureml_access_token: str,
        expiry_time: datetime.datetime | None = None,
        host: str | None = None,
        subscription_id: str | None = None,
        resource_group_name: str | None = None,
        workspace_name: str | None = None,
        experiment_name: str | None = None,
        run_id: str | None = None,
        user_email: str | None = None,
        experiment_id: str | None = None,
        cloud: str = "AzureCloud",
    ) -> None:
        self._given = azureml_access_token
        self._expiry_time = expiry_time
        self.host = host
        self.subscription_id = subscription_id
        self.resource_group_name = resource_group_name
        self.workspace_name = workspace_name
        self.experiment_name = experiment_name
        self.run_id = run_id
        self.user_email = user_email
        self.experiment_id = experiment_id
        self.cloud = cloud

    @classmethod
    def create(
        cls,
        azureml_access_token: str,
        expiry_time: datetime.datetime | None,
        host: str | None,
        subscription_id: str | None,
        resource_group_name: str | None,
        workspace_name: str | None,
        experiment_name: str | None,
        run_id: str | None,
        user_email: str | None = None,
        experiment_id: str | None = None,
    ) -> AzureMLTokenAuthentication:
        return cls(
            azureml_access_token,
            expiry_time,
            host,
            subscription_id,
            resource_group_name,
            workspace_name,
            experiment_name,
            run_id,
            user_email,
            experiment_id,
        )

    @property
    def token(self) -> str:
        return self._given

    @property
    def expiry_time(self) -> datetime.datetime | None:
        """When the token expires; None when it does not, as Runyard's do not."""
        return self._expiry_time

    def set_token(self, token: str, expiry_time: datetime.datetime | None) -> None:
        self._given = token
        self._expiry_time = expiry_time

    def get_token(self, *scopes: str, **kwargs: Any) -> AccessToken:
        expiry = self._expiry_time
        return AccessToken(self._given, int(expiry.timestamp())) if expiry else super().get_token()

    def _token(self) -> str:
        return self._given
