"""A real cluster's API server, read only: where it is, who asks, and what it answers.

``kubeconfig``    contexts out of kubeconfig files, as kubectl merges them
``credentials``   how a request proves who asks; forms that are not safe are refused
``targets``       one context or the pod's own cluster, as everything a connection needs
``connection``    requests: lists in pages, watches as lines
``resources``     which kinds are read, and where they are
``problems``      everything that can go wrong, as types

Nothing here needs Django.
"""
