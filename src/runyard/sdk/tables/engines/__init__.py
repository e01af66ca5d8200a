"""How rows are held and worked on: by pyarrow where it is installed, in lists otherwise."""
