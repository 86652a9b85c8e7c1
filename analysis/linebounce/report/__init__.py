"""`linebounce report`: results directories as one HTML file, and their charts as figures."""

from linebounce.report.page import make_page

__all__ = ["make_page"]
