"""What the server keeps: the database (tables, queries, migrations) and the object store. SQL lives here only."""
