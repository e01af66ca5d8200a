"""A PostgreSQL database that one test after the other uses: emptied in milliseconds, where making one takes a tenth of
a second and more. One that a test has changed in another way than by its rows is thrown away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

FORM = """
SELECT md5(string_agg(concat_ws(' ', relname, relkind, attname, atttypid, attnotnull, reloptions), E'\\n'
                      ORDER BY relname, attnum)) || (SELECT count(*) FROM pg_db_role_setting)
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relnamespace = 'public'::regnamespace
"""
"""The tables, indexes and columns, and how many databases have settings of their own, such as to be read only."""

TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname"
SEQUENCES = "SELECT sequencename, start_value FROM pg_sequences WHERE schemaname = 'public'"
OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> %s"


class UsedDatabase:
    """`name` was just made. `emptied` after each test brings it back to how it is now."""

    def __init__(self, url: str, name: str) -> None:
        self.url, self.name = url, name
        with self._connect() as connection:
            self._form = _one(connection, FORM)
            self._tables = [row[0] for row in connection.execute(TABLES)]
            self._rows = self._content(connection, self._filled(connection))

    def emptied(self) -> bool:
        """Take away what a test has stored; False when that does not bring back what was there before."""
        with self._connect() as connection:
            connection.execute(OTHERS, (connection.info.backend_pid,))
            if _one(connection, FORM) != self._form:
                return False
            connection.execute("SET session_replication_role = replica")  # rows go in any order
            for table in self._filled(connection):
                if table not in self._rows:
                    connection.execute(f'DELETE FROM "{table}"'.encode())
            for name, start in connection.execute(SEQUENCES).fetchall():
                connection.execute(f"""ALTER SEQUENCE "{name}" RESTART WITH {start}""".encode())
            return self._content(connection, self._filled(connection)) == self._rows

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        import psycopg

        return psycopg.connect(self.url, autocommit=True)

    def _filled(self, connection: psycopg.Connection[tuple[Any, ...]]) -> list[str]:
        """The tables that have rows."""
        looks = " UNION ALL ".join(f"(SELECT '{table}' FROM \"{table}\" LIMIT 1)" for table in self._tables)
        return [row[0] for row in connection.execute(looks.encode())]

    def _content(self, connection: psycopg.Connection[tuple[Any, ...]], tables: list[str]) -> dict[str, Any]:
        return {each: connection.execute(f'SELECT * FROM "{each}"'.encode()).fetchall() for each in tables}


def _one(connection: psycopg.Connection[tuple[Any, ...]], question: str) -> Any:
    [[answer]] = connection.execute(question.encode()).fetchall()
    return answer
