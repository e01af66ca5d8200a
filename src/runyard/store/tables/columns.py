"""What columns hold, and the columns that many tables have.

Rows are joined by small whole numbers (`serial`); the ids that users see are other columns. Texts of any length are
found by a fingerprint, because PostgreSQL cannot index long ones.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from hashlib import blake2b

from sqlalchemy import (
    BigInteger,
    Column,
    Dialect,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    Text,
)
from sqlalchemy.types import TypeDecorator

from runyard.store.errors import Damaged

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MICROSECOND = timedelta(microseconds=1)


def clean(text: str) -> str:
    """Text that every database can hold: no NUL, and no half of a surrogate pair."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def fingerprint(*texts: str) -> bytes:
    """Sixteen bytes that represent texts of any length in an index."""
    return blake2b("\0".join(map(clean, texts)).encode(), digest_size=16).digest()


def _unreadable(what: str, value: object) -> Damaged:
    return Damaged(
        "database_damaged",
        f"A value in the database should be {what}, and is {str(value)[:40]!r}.",
        "Stop the server and put back a copy of the database, or delete what the value belongs to.",
    )


class CleanText(TypeDecorator[str]):
    """Text that users or scripts wrote, in a form that every database can hold."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else clean(value)


class Moment(TypeDecorator[datetime]):
    """A time in UTC, stored as whole microseconds since 1970."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else (value - EPOCH) // MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        try:
            return None if value is None else EPOCH + value * MICROSECOND
        except (TypeError, OverflowError) as error:
            raise _unreadable("a time", value) from error


class Document(TypeDecorator[object]):
    """Something that JSON can hold. Null in the column is None."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: object, dialect: Dialect) -> str | None:
        return None if value is None else json.dumps(value, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> object:
        try:
            return None if value is None else json.loads(value)
        except (ValueError, TypeError, RecursionError) as error:
            raise _unreadable("JSON", value) from error


class Digest(TypeDecorator[str]):
    """A SHA-256: 64 hexadecimal digits in Python, 32 bytes in the database."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        return None if value is None else bytes.fromhex(value)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:
        try:
            return None if value is None else bytes(value).hex()
        except TypeError as error:
            raise _unreadable("a hash", value) from error


metadata = MetaData()

Serial = BigInteger().with_variant(Integer(), "sqlite")


def serial() -> Column[int]:
    return Column("serial", Serial, primary_key=True, autoincrement=True)


def of_run() -> Column[int]:
    return Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), nullable=False)


def of_workspace(primary_key: bool = False) -> Column[int]:
    key = ForeignKey("workspaces.serial", ondelete="CASCADE")
    return Column("workspace", Serial, key, primary_key=primary_key, nullable=False)


def of_service(primary_key: bool = False) -> Column[int]:
    key = ForeignKey("services.serial", ondelete="CASCADE")
    return Column("service", Serial, key, primary_key=primary_key, nullable=False)


def build_context() -> Column[str]:
    """The snapshot that an image is built from: it stays as long as the row does."""
    return Column("context", CleanText, ForeignKey("snapshots.id"))
