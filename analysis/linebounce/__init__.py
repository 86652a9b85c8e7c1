"""Linebounce's results and traces, read without its C++ part."""
