"""What a command says when it cannot do its work."""


class CommandFailed(Exception):
    """A command cannot do what was asked; the message says why, in a sentence for users."""

    exit_code = 1


class WrongUsage(CommandFailed):
    """The command was asked for something that makes no sense, such as a file that is not there."""

    exit_code = 2
