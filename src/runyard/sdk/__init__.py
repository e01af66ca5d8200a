"""What the user's code imports. Each module is loaded when it is first used: this file stays empty of imports."""
