"""What the processes agree on about data: datasets, layouts of their files, kinds of datastores, mapped addresses."""
