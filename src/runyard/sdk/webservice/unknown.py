"""`UnknownWebservice`: a service of a kind that this SDK does not know, made by a newer one. It can be looked at."""

from __future__ import annotations

from typing import Any, NoReturn

from runyard.sdk.webservice.webservice import Webservice


class UnknownWebservice(Webservice):
    """A service of a kind that this version has no class for."""

    def run(self, input: Any) -> NoReturn:
        """Not for a kind that is not known."""
        raise NotImplementedError(self._words("be called"))

    def update(self, *args: Any) -> NoReturn:
        """Not for a kind that is not known."""
        raise NotImplementedError(self._words("be updated"))

    def get_token(self) -> NoReturn:
        """Not for a kind that is not known."""
        raise NotImplementedError(self._words("give tokens"))

    def _words(self, what: str) -> str:
        return (
            f"The service {self.name!r} is of the kind {self._document.get('kind')!r}, which this version of Runyard "
            f"does not know: it cannot {what} from here. Upgrade Runyard, or post to {self.scoring_uri}."
        )
