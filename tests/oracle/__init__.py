"""The real kube-scheduler as a witness: its program in Go, and `make verify`, which asks it."""
