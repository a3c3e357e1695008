"""Random clusters and events in the format of the recordings, from a seed.

The format is described in tests/conformance/data/README.md. `python -m tests.generator` writes
documents.
"""
