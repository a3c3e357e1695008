"""Looks at runs from outside: what they differ in, what would change them, how good they are.

    compare/  two runs: where they diverge, why, and what is different at the end
    advice/   questions that are answered by running variants of a cluster
    model/    the optimum of a cluster, and one cycle as sets and predicates

It imports the rest of the engine, never the other way: a run comes out the same without it. What
the simulation itself needs (`evidence`, `changes`) stays below `sim`.
"""
