"""Thousands apart, as a browser writes them: Django's own formats write none in Chinese."""

THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
