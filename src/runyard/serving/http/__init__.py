"""HTTP/1.1 on plain sockets: heads, bodies, connections, and the loop that waits for them."""
