"""`linebounce report`: turns results directories into one HTML file, and their charts into figures."""
