"""What a sweep is made of: the space of its parameters, and the document that the client sends."""
