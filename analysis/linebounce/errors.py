"""What goes wrong with input, for a user: one line that names the thing, the place and what would be right."""


class InputError(Exception):
    """A results directory or trace that can't be read: exit code 3."""


class UsageError(Exception):
    """A request that makes no sense, or output that can't be written: exit code 2."""
