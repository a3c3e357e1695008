"""Questions about a cluster, answered by running the scheduler and never by guessing.

    objects, RunOptions --trial--> RunEnd: where every pod ended
    Trials: many trials of one cluster, each with other changes
    settled: a run that is over, to be gone on with; capacity fills it with copies

Nothing here has a clock or a thread: long work is a generator, and the caller may stop it.
"""
