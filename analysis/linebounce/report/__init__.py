"""`linebounce report`: results directories as one HTML file, and their charts as figures."""
