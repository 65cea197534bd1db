"""What commands have found."""

from __future__ import annotations

import base64
import html
import json
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _flitlab
from ._errors import RunError, ScenarioError
from ._table import Table

if TYPE_CHECKING:
    import numpy


class Figure:
    """A figure as the command draws it; a notebook shows it."""

    def __init__(self, answer: _flitlab.Answer, name: str) -> None:
        self._answer = answer
        #: The name of its files without their extension.
        self.name = name

    def svg(self) -> str:
        """The figure as SVG."""
        return self._answer.figure(self.name, "svg").decode()

    def pdf(self) -> bytes:
        """The figure as a PDF file."""
        return self._answer.figure(self.name, "pdf")

    def png(self) -> bytes:
        """The figure as a PNG file."""
        return self._answer.figure(self.name, "png")

    def save(self, path: Union[str, os.PathLike[str]]) -> Path:
        """Writes it to a file whose extension is svg, pdf or png; returns the path."""
        path = Path(path)
        format = path.suffix.lower().lstrip(".")
        if format not in ("svg", "pdf", "png"):
            raise ScenarioError(f"{path}: figures are written as .svg, .pdf or .png")
        path.write_bytes(self._answer.figure(self.name, format))
        return path

    def _repr_svg_(self) -> str:
        return self.svg()

    def _image(self) -> str:
        # In a file of its own: names inside are its own.
        data = base64.b64encode(self.svg().encode()).decode()
        name = html.escape(self.name)
        source = f"data:image/svg+xml;base64,{data}"
        # Pages may be dark, and the figure's letters are too.
        return f'<img alt="{name}" title="{name}" style="background: white" src="{source}">'

    def __repr__(self) -> str:
        return f"<flitlab figure {self.name}>"


class Figures(Mapping[str, Figure]):
    """Figures by their names; a notebook shows all of them."""

    def __init__(self, answer: _flitlab.Answer) -> None:
        self._figures = {name: Figure(answer, name) for name in answer.figures}

    def __getitem__(self, name: str) -> Figure:
        if name not in self._figures:
            raise KeyError(f"there is no figure {name!r}, but {', '.join(self) or 'none'}")
        return self._figures[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._figures)

    def __len__(self) -> int:
        return len(self._figures)

    def __repr__(self) -> str:
        return f"<flitlab figures: {', '.join(self) or 'none'}>"

    def _repr_html_(self) -> str:
        return "".join(figure._image() for figure in self.values())


class _Found:
    """What results and routing tables have in common."""

    def __init__(self, answer: _flitlab.Answer) -> None:
        self._answer = answer
        #: Notes and warnings, as the command says them.
        self.notes: list[str] = list(answer.notes)
        #: The exit code of the command: 0, or 3 with a deadlock, or another that `failure` explains.
        self.exit_code: int = answer.code
        #: What the command says on standard error about the exit code; None if that is 0.
        self.failure: Optional[str] = answer.error or None

    @cached_property
    def tables(self) -> dict[str, Table]:
        """The result files by their names without `.csv`."""
        return {table.name: Table(table) for table in self._answer.tables}

    @cached_property
    def figures(self) -> Figures:
        """The figures by their names; a notebook shows them."""
        return Figures(self._answer)

    def __getitem__(self, table: str) -> Table:
        """A table by its name: `result["channels"]`."""
        if table not in self.tables:
            raise KeyError(f"there is no table {table!r}, but {', '.join(self.tables)}")
        return self.tables[table]

    def __str__(self) -> str:
        """What the command prints."""
        return self._answer.text.rstrip("\n")

    def _json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._answer.json or "{}")
        return found

    def _repr_html_(self) -> str:
        text = str(self) + (f"\n{self.failure}" if self.failure else "")
        return f"<pre>{html.escape(text)}</pre>" + self.figures._repr_html_()


class Result(_Found):
    """The result of a run or a sweep.

    `points` has a row for each point, with the columns of `points.csv`; `result["channels"]` and
    others are the other files. A notebook shows text and figures.
    """

    @property
    def points(self) -> Table:
        """A row for each point: how it ended, loads, latencies, times."""
        return self["points"]

    @property
    def summary(self) -> dict[str, Any]:
        """What `--json` prints: facts about the scenario, points, warnings, deadlocks, cost."""
        return self._json()

    @property
    def statuses(self) -> list[str]:
        """How each point ended: `steady`, `not steady`, `completed`, `deadlock` or another."""
        return self.points.column("status")

    @property
    def status(self) -> str:
        """How a run ended, or all points of a sweep; `mixed` if they ended in several ways."""
        kinds = set(self.statuses)
        return kinds.pop() if len(kinds) == 1 else "mixed"

    @property
    def warnings(self) -> list[str]:
        """Warnings about the points, with advice."""
        found: list[str] = self.summary["warnings"]
        return found

    @property
    def scenario(self) -> str:
        """The scenario with every value written out; from it the result can be repeated."""
        return self._answer.scenario or ""

    @property
    def folder(self) -> Optional[Path]:
        """The folder of its files; None if none were written."""
        return self._answer.folder

    def save(self, folder: Union[str, os.PathLike[str]]) -> Path:
        """Writes scenario, rows, summary and figures into a folder; returns it.

        They are the files of `flitlab run` or `flitlab sweep`. A folder with something in it is
        an error: results never replace others.
        """
        path = Path(folder)
        try:
            self._answer.save(path)
        except OSError as error:
            raise RunError(str(error)) from None
        return path

    def __repr__(self) -> str:
        place = f", in {self.folder}" if self.folder else ""
        points = len(self.points)
        count = "" if points == 1 else f"{points} points, "
        return f"<flitlab result: {count}{self.status}{place}>"


class RoutingTable(_Found):
    """A routing table that was made or checked, and what was proved of it.

    `routing["loads"]` says how many routes cross each channel. A table of Angara has
    `routing["routes"]`, a row a route; others have `routing["next_hops"]`, a row for each router
    and destination. A notebook shows text and figures.
    """

    @property
    def report(self) -> dict[str, Any]:
        """What `flitlab route --json` prints: pairs, loads, bounds, hops, proof."""
        return self._json()

    @property
    def deadlock_free(self) -> bool:
        """Whether it is proved that packets can't wait for each other for ever."""
        return self.exit_code == 0 and not self.report.get("cycle")

    @property
    def ports(self) -> numpy.ndarray[Any, Any]:
        """The port by router, then destination; -1 at its own router and where there is no way.

        Of forwarding tables only: sources look up the routes of Angara.
        """
        import numpy

        hops = self["next_hops"]
        routers, terminals, ports = hops["router"], hops["terminal"], hops["port"]
        shape = (int(routers.max()) + 1, int(terminals.max()) + 1) if len(hops) else (0, 0)
        array = numpy.full(shape, -1, dtype=numpy.int64)
        there = ~numpy.isnan(ports.astype(float))
        array[routers[there], terminals[there]] = ports[there].astype(numpy.int64)
        return array

    def __repr__(self) -> str:
        report = self.report
        proved = "no deadlock" if self.deadlock_free else "packets can deadlock"
        algorithm = report.get("algorithm")
        by = f" by {algorithm}" if algorithm else ""
        return f"<flitlab routing table of {report['fabric']}{by}: {proved}>"
