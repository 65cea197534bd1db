"""What is raised where the command ends with an exit code."""

from typing import Any, Optional


class Error(Exception):
    """The text is what the command says on standard error."""

    #: The exit code of the command.
    code: int = 1


class RunError(Error, RuntimeError):
    """Something failed: a file could not be written, or memory ran out (exit code 1)."""

    code = 1


class ScenarioError(Error, ValueError):
    """The scenario, a setting or an argument is wrong (exit code 2)."""

    code = 2


class CheckError(Error):
    """A check did not hold: pairs have no route, a table is flawed (exit code 4)."""

    code = 4

    def __init__(self, text: str, report: Optional[dict[str, Any]] = None) -> None:
        super().__init__(text)
        #: What is known all the same, as `--json` prints it; None if nothing is.
        self.report = report


class DeadlockError(Error):
    """Packets can wait for each other for ever, where no result says so (exit code 3)."""

    code = 3


class Warning(UserWarning):
    """What the command says behind `warning:`."""
