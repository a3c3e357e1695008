"""Replaying decisions recorded from the real kube-scheduler."""
