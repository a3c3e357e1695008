"""Reads: what the results of an experiment say, in sentences, tables and charts."""
