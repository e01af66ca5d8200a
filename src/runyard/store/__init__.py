"""What the server stores: the database (tables, queries, migrations) and the object store. SQL lives here only."""
