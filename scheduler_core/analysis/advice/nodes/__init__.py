"""Which nodes to add so that all pending pods bind, and which to drain with everything placed.

nodes present, shapes typed in --offers, shapes--> Offers
pending pods, Offers --packing--> a first set --adding--> the cheapest set that a run proves
--draining--> nodes that can go, and in which order
"""
