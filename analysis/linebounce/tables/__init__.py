"""Writes tables of results, and other CSV files, as CSV, JSON, Parquet or Markdown: `linebounce tables`."""
