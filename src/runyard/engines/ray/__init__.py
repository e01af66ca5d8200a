"""The engine for Ray clusters: node runners are tasks in placement groups, one group for each gang.

The server's own environment needs no Ray. The pieces, from the server outwards:

    engine    the seam: what the scheduler calls; it reports what happens to gangs
    connection  opens the line when it is needed, and again when it is broken
    line      the driver as a child process: requests and answers as lines of JSON
    driver    runs in an interpreter that has Ray, and passes requests on to the keepers; holds nothing that matters
    keeper    an actor in the cluster that leads gangs: asks for their groups, starts their tasks, knows how they ended
    node_task the task on each node of a gang, which runs the node runner
    reasons   why a gang waits, as a sentence
    internals what only Ray's private modules offer
    tether    stands between a worker of Ray and a node runner, so that the one can end and the other still tidy up
"""
