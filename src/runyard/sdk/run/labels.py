"""The part of `Run` for tags (which may change) and properties (which are set once)."""

from __future__ import annotations

from typing import Mapping, Sequence

from runyard.sdk.labels import checked_labels
from runyard.sdk.notices import notice
from runyard.sdk.run.core import RunCore


class RunLabels(RunCore):
    """tag, set_tags, tags, get_tags, remove_tags, add_properties, properties, get_properties."""

    @property
    def tags(self) -> dict[str, str | None]:
        """The run's current tags."""
        return self.get_tags()

    def get_tags(self) -> dict[str, str | None]:
        """The run's current tags, from the server."""
        self._deliver_before_reading()
        return dict(self._fetch()["tags"])

    def tag(self, key: str, value: object = None) -> None:
        """Set one tag, with or without a value."""
        self.set_tags({key: value})

    def set_tags(self, tags: Mapping[str, object]) -> None:
        """Set tags; the others stay."""
        checked = checked_labels("tags", tags, none_allowed=True)
        if self._own_telemetry is not None:
            self._open_journal().tags(checked)
        else:
            self._document = self._service.patch(self._address(), {"set_tags": checked})

    def remove_tags(self, tags: str | Sequence[str]) -> dict[str, str | None]:
        """Remove tags by their keys, and return those that are left."""
        keys = [tags] if isinstance(tags, str) else [str(tag) for tag in tags]
        if self._own_telemetry is not None:
            self._open_journal().untag(keys)
            return self.get_tags()
        self._document = self._service.patch(self._address(), {"remove_tags": keys})
        return self.get_tags()

    @property
    def properties(self) -> dict[str, str | None]:
        """The run's current properties."""
        return self.get_properties()

    def get_properties(self) -> dict[str, str | None]:
        """The run's current properties, from the server."""
        self._deliver_before_reading()
        return dict(self._fetch()["properties"])

    def add_properties(self, properties: Mapping[str, object]) -> None:
        """Add properties. One that is set cannot be changed."""
        checked = checked_labels("properties", properties, none_allowed=False)
        if self._own_telemetry is not None:
            texts = {key: str(value) for key, value in checked.items()}
            for key, value in texts.items():
                first = self._own_properties.setdefault(key, value)
                if first != value:
                    notice(f"The property {key!r} stays {first!r}: properties cannot be changed. Use a tag instead.")
            self._open_journal().properties(texts)
        else:
            self._document = self._service.patch(self._address(), {"add_properties": checked})
