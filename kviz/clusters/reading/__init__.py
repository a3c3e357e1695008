"""A real cluster's API server, read only: its address, the credentials, and its answers.

``kubeconfig``    contexts out of kubeconfig files, as kubectl merges them
``credentials``   how a request authenticates; unsafe forms are refused
``targets``       one context or the pod's own cluster, as everything a connection needs
``connection``    requests: lists in pages, watches as lines
``resources``     which kinds are read, and where they are
``problems``      everything that can go wrong, as types

Nothing here needs Django.
"""
