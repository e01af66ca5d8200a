"""What is in a dataset, wherever its files are: on the web, in a bucket, or on a disk of the server's machine."""
