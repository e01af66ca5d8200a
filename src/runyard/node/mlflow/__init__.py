"""MLflow in a run: an address on this machine's loopback, at which the node runner answers in place of the server.

MLflow's client tries a server that does not answer again for minutes, within the training loop. So what a script logs
is written to a journal here and answered at once, and delivered as all journals are. What it reads is asked of the
server. A run whose script never uses MLflow costs an open port, and no more.
"""
