"""Followed clusters in the web application: their runs, journals and checks."""
