"""The trace: typed events, their codec, and the state they fold into."""
