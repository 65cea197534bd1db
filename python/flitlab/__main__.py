"""The command `flitlab`."""

import signal
import sys

from . import _native


def main() -> int:
    """Does what the arguments of this process ask for; returns the exit code."""
    # The command has its own way with Ctrl-C; Python's would wait until all is done.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    name = "flitlab" if sys.argv[0].endswith("__main__.py") else sys.argv[0]
    return _native.module.main([name, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
