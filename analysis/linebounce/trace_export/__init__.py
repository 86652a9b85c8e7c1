"""Exports a run's timeline to formats of other viewers: `linebounce trace export`."""
