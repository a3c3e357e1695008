"""Questions answered by running the scheduler many times, from files alone."""
