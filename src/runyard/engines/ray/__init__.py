"""The engine for Ray clusters: node runners are tasks in placement groups, one group for each gang.

The server's own environment needs no Ray. The pieces, from the server outwards:

    engine    the seam: what the scheduler calls, and whom it tells what becomes of gangs
    line      the driver as a child process: requests and answers as lines of JSON
    driver    runs in an interpreter that has Ray, and passes on what is said to the keepers; holds nothing that matters
    keeper    an actor in the cluster that keeps gangs: asks for their groups, starts their tasks, knows how they ended
    internals what Ray tells only through its private modules
    tether    stands between a worker of Ray and a node runner, so that the one can end and the other still tidy up
"""
