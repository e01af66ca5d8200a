"""Environments with packages of conda: which names they have there, and the program that builds them."""
