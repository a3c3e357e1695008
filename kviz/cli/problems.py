"""What a command says when it cannot do its work."""


class CommandFailed(Exception):
    """A command cannot do what was asked; the message says why, in a sentence for users."""
