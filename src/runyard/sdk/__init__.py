"""What the user's code imports. Each module is loaded when it is asked for: this file stays empty of imports."""
