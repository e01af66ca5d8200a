"""What the processes agree on about data: definitions of datasets, layouts of their files, mapped addresses."""
