"""Environments with packages of conda."""
