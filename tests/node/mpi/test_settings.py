"""What Open MPI and Intel MPI are configured with; what the user has set stays."""

from __future__ import annotations

from runyard.node.launch.meeting import Meeting
from runyard.node.mpi import flavours
from runyard.node.mpi.flavours import Mpi
from runyard.node.mpi.settings import IDENTITY, host_of, settings

APART = Meeting(["10.0.0.1", "10.0.0.2"], ["a", "b"], 29999)
TOGETHER = Meeting(["127.0.0.1"] * 2, ["here"] * 2, 29999)


def test_daemons_are_started_by_the_agent_and_by_no_batch_system() -> None:
    found = settings(Mpi(flavours.OPENMPI, "4.1.8", "/usr/bin/mpirun"), 0, APART, "/agent", {})
    assert found["OMPI_MCA_plm_rsh_agent"] == "/agent"
    assert found["OMPI_MCA_ras"].startswith("^slurm,")
    found = settings(Mpi(flavours.OPENMPI, "5.0.3", "/usr/bin/mpirun"), 0, APART, "/agent", {})
    assert found["PRTE_MCA_plm_ssh_agent"] == "/agent"
    assert "OMPI_MCA_plm_rsh_agent" not in found


def test_two_nodes_on_one_machine_have_names_of_their_own() -> None:
    version5 = Mpi(flavours.OPENMPI, "5.0.3", "/usr/bin/mpirun")
    assert IDENTITY not in settings(version5, 1, APART, "/agent", {})
    meeting = Meeting(APART.addresses, ["here", "here"], 29999)
    found = settings(version5, 1, meeting, "/agent", {})
    assert (found[IDENTITY], found["SLURMD_NODENAME"]) == ("slurm", host_of(1))
    assert IDENTITY not in settings(version5, 0, meeting, "/agent", {}), "node 0 runs mpirun itself"


def test_on_loopback_alone_ranks_are_connected_over_it() -> None:
    found = settings(Mpi(flavours.OPENMPI, "4.1.8", "/usr/bin/mpirun"), 0, TOGETHER, "/agent", {})
    assert found["OMPI_MCA_btl_tcp_if_include"] in ("lo", "lo0")


def test_one_node_needs_no_network() -> None:
    alone = Meeting(["127.0.0.1"], ["here"], 29999)
    found = settings(Mpi(flavours.OPENMPI, "4.1.8", "/usr/bin/mpirun"), 0, alone, "/agent", {})
    assert not [name for name in found if "_if_" in name]


def test_interfaces_that_the_user_has_chosen_are_not_taken_back() -> None:
    version4 = Mpi(flavours.OPENMPI, "4.1.8", "/usr/bin/mpirun")
    meeting = Meeting(["10.0.0.1", "10.0.0.2"], ["a", "b"], 29999)
    assert settings(version4, 0, meeting, "/agent", {})["OMPI_MCA_btl_tcp_if_exclude"] == "lo,docker0"
    assert "OMPI_MCA_btl_tcp_if_exclude" not in settings(
        version4, 0, meeting, "/agent", {"OMPI_MCA_btl_tcp_if_include": "ib0"}
    )
