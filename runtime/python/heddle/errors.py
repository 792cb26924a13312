"""What goes wrong, each with the sentence of the library: what is wrong, where, what was
expected and found."""


class Error(Exception):
    """The input, the file or the machine is at fault."""


class MisuseError(Error, ValueError):
    """The call is: a setting that does not exist or contradicts another, a value that
    means nothing. Nothing was done."""


class CancelledError(Error):
    """Somebody has cancelled the call."""


class CompileError(Error):
    """heddle-compile has refused a model or a flag."""
