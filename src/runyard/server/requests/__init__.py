"""What clients send: the form of requests, the rules that they must follow, and uploads."""
