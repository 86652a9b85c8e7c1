"""Runs an experiment's points on a Dask cluster, and measures how sensitive a metric is to parameters."""
