"""Run pages, one module per kind of page. Reads and writes are elsewhere."""
