"""MPI on the nodes of a run: which MPI is there, how node 0 starts it, and how its daemons reach the other nodes.

Node 0 starts mpirun in place of the ranks. Where mpirun would call ssh it calls a small program of ours (`agents`),
which has the node runner of the other node start mpirun's daemon there: no ssh is needed, and the processes of a node
belong to its runner. The daemons start the ranks, each inside a few lines of shell (`ranks`) that set its place,
send its output to its log and write down how it ended.
"""

from __future__ import annotations

from runyard.node.mpi.agents import Agents, Spawned
from runyard.node.mpi.files import remove_files
from runyard.node.mpi.flavours import Mpi, find
from runyard.node.mpi.mpirun import command
from runyard.node.mpi.ranks import exits, node_environment

__all__ = ["Agents", "Mpi", "Spawned", "command", "exits", "find", "node_environment", "remove_files"]
