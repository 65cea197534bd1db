"""Calls of commands: scenarios and settings as arguments, progress, errors."""

from __future__ import annotations

import json
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Optional, Union

from . import _flitlab, _native
from ._errors import CheckError, DeadlockError, Error, RunError, ScenarioError, Warning

#: A path, a text in TOML (it has a line break), or a dictionary of its keys.
Scenario = Union[str, "os.PathLike[str]", Mapping[str, Any]]

#: What a scenario that is no file is called in messages; its stem is its default name.
NAMELESS = "scenario.toml"


class Progress(NamedTuple):
    """How far a command is."""

    #: Points of a sweep that are finished, or hundredths of a run.
    done: int
    #: How many there are in all; 0 if that is not known.
    total: int
    #: In words.
    text: str


#: True or False; None shows a line on a terminal and in a notebook; a function is called with it.
ProgressOption = Union[None, bool, Callable[[Progress], object]]


def toml(value: Any) -> str:
    """A value as TOML has it, on one line."""
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item() if getattr(value, "ndim", 0) == 0 else value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        # TOML's whole numbers have 64 bits. What is that far off is wrong for any key.
        return repr(float(value)) if abs(value) < 10**300 else ("-" if value < 0 else "") + "1e300"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, os.PathLike)):
        text = json.dumps(os.fspath(value), ensure_ascii=False)
        return text.replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        pairs = (f"{key(name)} = {toml(inner)}" for name, inner in value.items())
        return "{ " + ", ".join(pairs) + " }" if value else "{}"
    if isinstance(value, (Sequence, range)) and not isinstance(value, bytes):
        return "[" + ", ".join(toml(inner) for inner in value) + "]"
    kind = "None" if value is None else type(value).__name__
    raise TypeError(f"{kind} is no value of a scenario: give a number, text, list or dictionary")


def key(name: str) -> str:
    """A name between the dots of a key."""
    bare = name and all(it.isascii() and (it.isalnum() or it in "_-") for it in name)
    return name if bare else toml(name)


def document(scenario: Mapping[str, Any], path: tuple[str, ...] = ()) -> str:
    """A dictionary as the text of a scenario: a table has a header, as people write it.

    Keys with dots, as in `{"traffic.load": 0.3}`, are those of tables.
    """
    plain, tables = "", ""
    for name, value in scenario.items():
        if not isinstance(name, str):
            raise TypeError(f"{name!r} is no key of a scenario: keys are texts")
        below = (*path, *name.split("."))
        if isinstance(value, Mapping) and value:
            tables += document(value, below)
        else:
            own = ".".join(key(part) for part in below[len(path) :])
            plain += f"{own} = {toml(value)}\n"
    header = f"[{'.'.join(key(part) for part in path)}]\n" if path and plain else ""
    return header + plain + tables


def arguments(
    scenario: Optional[Scenario],
    settings: Optional[Mapping[str, Any]],
    keys: Mapping[str, Any],
    needed: bool = True,
) -> tuple[list[str], Optional[str]]:
    """The words that stand for a scenario and its settings; the text if it is no file."""
    text = None
    words = []
    if needed and scenario is None or isinstance(scenario, (bytes, bytearray)):
        kind = "None" if scenario is None else type(scenario).__name__
        raise TypeError(f"{kind} is no scenario: give a path, a text in TOML or a dictionary")
    if isinstance(scenario, Mapping):
        text = document(scenario)
        words.append(NAMELESS)
    elif isinstance(scenario, str) and "\n" in scenario:
        text = scenario
        words.append(NAMELESS)
    elif scenario is not None:
        # A path that begins with a dash is no option.
        path = os.fspath(scenario)
        words.append(os.path.join(os.curdir, path) if path.startswith("-") else path)
    for name, value in {**(settings or {}), **keys}.items():
        words.append(f"--set={name.replace('__', '.')}={toml(value)}")
    return words, text


def options(**given: Any) -> list[str]:
    """Options by their names in the command; those that are None or False are left out."""
    words = []
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, (list, tuple, range)):
            words += [f"{option}={','.join(str(it) for it in value)}"] if value else []
        else:
            words.append(f"{option}={os.fspath(value) if hasattr(value, '__fspath__') else value}")
    return words


class Line:
    """A line about progress that is written over again and again."""

    #: Seconds that work may take before it is shown, unless it was asked for.
    PATIENCE = 1.0

    def __init__(self, option: ProgressOption) -> None:
        self.option = option
        self.line = ""
        self.begun = time.monotonic()
        self.wait = 0.0 if option is True else self.PATIENCE

    def tell(self) -> Optional[Callable[[int, int, str], object]]:
        """What a call is given."""
        option = self.option
        if callable(option):
            return lambda *standing: option(Progress(*standing))
        if option is False or (option is None and not (in_notebook() or sys.stderr.isatty())):
            return None
        return self.show

    def show(self, done: int, total: int, text: str) -> None:
        if time.monotonic() - self.begun < self.wait:
            return
        # A run's text begins with its share.
        bar = f"[{'=' * (20 * done // total):20}] " if total else ""
        line = f"{bar}{text}"[:118]
        # A notebook keeps all that is written.
        if line != self.line:
            sys.stderr.write("\r" + line.ljust(len(self.line)))
            sys.stderr.flush()
            self.line = line

    def clear(self) -> None:
        if self.line:
            sys.stderr.write("\r" + " " * len(self.line) + "\r")
            sys.stderr.flush()


def in_notebook() -> bool:
    """Whether outputs go to a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


def call(words: Sequence[str], text: Optional[str], progress: ProgressOption) -> _flitlab.Answer:
    """Calls a command. What it warns of is issued as a warning of whoever called this module.

    Raises what stands for its exit code, unless there is a result all the same.
    """
    line = Line(progress)
    try:
        answer = _native.module.call(words, text, line.tell())
    finally:
        line.clear()
    for note in answer.notes:
        start, _, rest = note.partition(": ")
        if start == "warning":
            warnings.warn(as_keywords(rest), Warning, stacklevel=outside())
    found = answer.has_result or bool(answer.tables)
    if answer.code == 0 or found:
        return answer
    raise error(answer)


def error(answer: _flitlab.Answer) -> Error:
    """What stands for the exit code of a command that failed."""
    text = as_keywords(answer.error)
    if answer.code == 4:
        return CheckError(text, json.loads(answer.json) if answer.json else None)
    kinds: dict[int, type[Error]] = {2: ScenarioError, 3: DeadlockError}
    return kinds.get(answer.code, RunError)(text)


def as_keywords(text: str) -> str:
    """A message with settings as they are given here: `traffic__load=0.3` for `--set traffic.load=0.3`."""

    def keyword(found: re.Match[str]) -> str:
        name, value = found["key"], found["value"] or ""
        return name.replace(".", "__") + "=" + value

    quoted = re.sub(r"--set '(?P<key>[\w.]+)=(?P<value>[^']*)'", keyword, text)
    return re.sub(r"--set (?P<key>[\w.]+)=(?P<value>)", keyword, quoted)


def outside() -> int:
    """How far up the first caller is that is not of this package."""
    here = os.path.dirname(__file__)
    # Frame 1 is that of `call`, whose own level is 1.
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == here:
        frame = frame.f_back
        level += 1
    return level
