"""`linebounce teach`: lessons on cache coherence, as a page, in the terminal, and graded."""
