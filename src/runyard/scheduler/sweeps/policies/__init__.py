"""Policies: which children of a sweep are stopped early. One file each, one abstract method (`policy.Policy`)."""
