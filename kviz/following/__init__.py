"""Following a real cluster: what its API server's watches say becomes an observed run.

Pure: no Django, no network, no clock. `changes` reads what a watch sends, `order` puts the kinds
in order, `follower` holds both together, `observed` makes the events of a trace, `decisions` finds
what the scheduler decided, `reality` sets the engine's own verdict beside it.
"""
