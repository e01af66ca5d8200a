"""Replicas of services: what a node runner does for a process that is to stay up."""
