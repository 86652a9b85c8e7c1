"""`linebounce trace export`: a run's timeline in the formats of other viewers."""
