"""A flit-level simulator of high-performance interconnects, and generator of routing tables.

    import flitlab

    result = flitlab.run("scenario.toml", traffic__load=0.3)
    result.points["packet_latency_mean_ns"]

Scenarios are a path, a text in TOML or a dictionary. Settings are keyword arguments: the key
`traffic.load` is `traffic__load=0.3`, or `**{"traffic.load": 0.3}`. Options are called like those of
the command `flitlab`, and do the same. docs/python.md goes through it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from . import _flitlab
from ._call import Progress, ProgressOption, Scenario, arguments, call, error, options
from ._errors import CheckError, DeadlockError, Error, RunError, ScenarioError, Warning
from ._native import use
from ._result import Figure, Figures, Result, RoutingTable
from ._table import Table

__all__ = [
    "CheckError",
    "DeadlockError",
    "Error",
    "Figure",
    "Figures",
    "Progress",
    "Result",
    "RoutingTable",
    "RunError",
    "ScenarioError",
    "Table",
    "Warning",
    "check",
    "route",
    "run",
    "sweep",
    "use",
]

#: The version of flitlab, as `flitlab --version` prints it.
__version__ = _flitlab.version()

# Where they are to be had, for messages of Python.
for _kind in (CheckError, DeadlockError, Error, RunError, ScenarioError, Warning):
    _kind.__module__ = __name__

_Path = Union[str, "os.PathLike[str]"]


def run(
    scenario: Scenario,
    settings: Optional[Mapping[str, Any]] = None,
    *,
    out: Optional[_Path] = None,
    threads: Optional[int] = None,
    figures: bool = True,
    trace_path: bool = False,
    timeline: Optional[_Path] = None,
    log: Optional[_Path] = None,
    log_packets: Optional[_Path] = None,
    log_messages: Optional[_Path] = None,
    log_nodes: Sequence[int] = (),
    log_most: Optional[int] = None,
    checkpoint: Optional[_Path] = None,
    checkpoint_every: Optional[int] = None,
    progress: ProgressOption = None,
    **keys: Any,
) -> Result:
    """Simulates a scenario once, as `flitlab run`.

    The result is the same to the last bit, however it is called and on any number of threads.
    A load past saturation and a deadlock are results: `result.status`. Other threads of Python go
    on meanwhile. Ctrl-C ends the run and raises KeyboardInterrupt.

    scenario: a path, a text in TOML (with a line break) or a dictionary of keys.
    settings, keys: values over those of the scenario, by key. In a keyword `__` is a dot.
    out: an empty folder for the result files; without it none are written (`result.save`).
    threads: how many to use; as many as pay by default. Where many runs go at once, 1.
    figures: whether figures are written to `out`.
    trace_path, timeline, log, log_packets, log_messages, log_nodes, log_most, checkpoint,
    checkpoint_every: as in `flitlab run --help`; checkpoint_every in minutes.
    progress: True or False; None shows a line on a terminal and in a notebook after a second; a
    function is called with a `Progress` some times a second.

    Raises ScenarioError if anything is wrong, with all mistakes and their places, and RunError if
    a file can't be written.
    """
    words, text = arguments(scenario, settings, keys)
    words += options(
        out=out,
        threads=threads,
        no_figures=not figures,
        trace_path=trace_path,
        timeline=timeline,
        log=log,
        log_packets=log_packets,
        log_messages=log_messages,
        log_nodes=log_nodes,
        log_most=log_most,
        checkpoint=checkpoint,
        checkpoint_every=checkpoint_every,
    )
    return Result(call(["run", *words], text, progress))


def sweep(
    scenario: Scenario,
    settings: Optional[Mapping[str, Any]] = None,
    *,
    out: Optional[_Path] = None,
    threads: Optional[int] = None,
    figures: bool = True,
    resume: bool = False,
    progress: ProgressOption = None,
    **keys: Any,
) -> Result:
    """Runs a scenario at every point of its [sweep], in parallel, as `flitlab sweep`.

    Each finished point is kept on the disk at once, so there is always a folder. Ctrl-C ends the
    sweep and raises KeyboardInterrupt, whose text says how to go on.

    out: the folder; `results/NAME`, or `results/NAME-2` and so on, without it.
    resume: go on in the folder in which this sweep was begun.
    threads: how many points are computed at once; one a core by default.

    The rest is as for `run`.
    """
    words, text = arguments(scenario, settings, keys)
    words += options(out=out, threads=threads, no_figures=not figures, resume=resume)
    return Result(call(["sweep", *words], text, progress))


def route(
    scenario: Optional[Scenario] = None,
    settings: Optional[Mapping[str, Any]] = None,
    *,
    algorithm: Optional[str] = None,
    lanes: Optional[int] = None,
    partition: Optional[str] = None,
    traffic: bool = False,
    save: Optional[_Path] = None,
    force: bool = False,
    check: Optional[_Path] = None,
    netlist: Optional[_Path] = None,
    paths: Optional[_Path] = None,
    map: Optional[_Path] = None,
    find_lanes: Optional[int] = None,
    allow_partial: bool = False,
    out: Optional[_Path] = None,
    sigma: Optional[int] = None,
    threads: Optional[int] = None,
    progress: ProgressOption = None,
    **keys: Any,
) -> RoutingTable:
    """Makes a routing table, says how good it is, and proves it, as `flitlab route`.

    A table by which packets can deadlock is a result: `deadlock_free` is False and `failure` says
    which channels wait for each other. Options are those of `flitlab route --help`: `check` reads
    a table that was saved in place of making one.

    Raises ScenarioError if anything is wrong, and CheckError if pairs have no route (unless
    `allow_partial`) or the table has another flaw.
    """
    words, text = arguments(scenario, settings, keys, needed=False)
    words += options(
        algorithm=algorithm,
        lanes=lanes,
        partition=partition,
        traffic=traffic,
        save=save,
        force=force,
        check=check,
        netlist=netlist,
        paths=paths,
        map=map,
        find_lanes=find_lanes,
        allow_partial=allow_partial,
        out=out,
        sigma=sigma,
        threads=threads,
    )
    answer = call(["route", *words], text, progress)
    table = RoutingTable(answer)
    # Ways that are wrong are an error whether there is a cycle beside them or not.
    if answer.code != 0 and (table.report.get("flaws") or not table.report.get("cycle")):
        raise error(answer)
    return table


def check(
    scenario: Scenario,
    settings: Optional[Mapping[str, Any]] = None,
    *,
    progress: ProgressOption = None,
    **keys: Any,
) -> dict[str, Any]:
    """What is known before anything is simulated, as `flitlab check --json` prints it.

    Raises ScenarioError if anything is wrong, and CheckError if packets can deadlock.
    """
    words, text = arguments(scenario, settings, keys)
    found: dict[str, Any] = json.loads(call(["check", *words], text, progress).json or "{}")
    return found


def __dir__() -> list[str]:
    """What this module has to offer, without what it is made of."""
    return sorted([*__all__, "__doc__", "__file__", "__name__", "__version__"])
