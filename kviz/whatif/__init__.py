"""What follows from changes for a pod, and for all others: two runs from files alone, beside."""
