"""Sweeps: the points of an experiment on a Dask cluster, and the sensitivity of a metric to parameters."""
