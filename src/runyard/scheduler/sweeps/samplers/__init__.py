"""Samplers: what the next child of a sweep is given. One file each, one abstract method (`sampler.Sampler`)."""
