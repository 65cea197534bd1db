"""Result files in columns."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _flitlab

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars

#: How many rows a notebook shows.
SHOWN = 10


class Table:
    """A result file in columns, such as `points.csv`.

    `table["accepted_load"]` is a column as an array of NumPy: whole numbers `int64`, others
    `float64`, texts `object`. What a row does not have is NaN, or None among texts; whole numbers
    of which some are missing are `float64`. Arrays can't be written to: copy them first.

    By Arrow's interface (`__arrow_c_stream__`) pandas, Polars, PyArrow and DuckDB read it, missing
    values as null: `pyarrow.table(table)`, `polars.DataFrame(table)`.

    Names end in their units: `_ns`, `_us`, `_GB_per_s`; shares are fractions of 1.
    """

    def __init__(self, native: _flitlab.Table) -> None:
        self._native = native
        self._columns = native.columns
        self._arrays: dict[str, numpy.ndarray[Any, Any]] = {}

    @property
    def name(self) -> str:
        """The name of the file without `.csv`."""
        return self._native.name

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column, such as `ns`; empty if it has none."""
        return {name: unit for name, unit, _ in self._columns}

    @property
    def meanings(self) -> dict[str, str]:
        """What each column holds, in a sentence or two."""
        return {name: meaning for name, _, meaning in self._columns}

    def __getitem__(self, column: str) -> numpy.ndarray[Any, Any]:
        if column not in self._arrays:
            self._arrays[column] = self._array(column)
        return self._arrays[column]

    def _array(self, column: str) -> numpy.ndarray[Any, Any]:
        kind, values = self._values(column)
        try:
            import numpy
        except ImportError as missing:
            raise ImportError(
                f"columns as arrays need NumPy (pip install numpy); .column({column!r}) is a list"
            ) from missing
        if isinstance(values, list):
            array = numpy.empty(len(values), dtype=object)
            array[:] = values
            array.flags.writeable = False
            return array
        return numpy.frombuffer(values, dtype=kind)

    def _values(self, column: str) -> tuple[str, Union[bytes, list[Optional[str]]]]:
        if column not in self:
            import difflib

            near = difflib.get_close_matches(column, list(self), n=1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise KeyError(f"{self.name} has no column {column!r}{meant}")
        return self._native.values(column)

    def column(self, column: str) -> list[Any]:
        """A column as a list, None where a row has no value. Needs no NumPy."""
        kind, values = self._values(column)
        if isinstance(values, list):
            return list(values)
        numbers = memoryview(values).cast("q" if kind == "int64" else "d")
        return [None if math.isnan(number) else number for number in numbers]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _, _ in self._columns)

    def __contains__(self, column: object) -> bool:
        return any(name == column for name, _, _ in self._columns)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._native)

    def keys(self) -> list[str]:
        """The names of the columns, so that `dict(table)` has the arrays."""
        return list(self)

    def records(self) -> list[dict[str, Any]]:
        """The rows as dictionaries, None where a row has no value. Needs no NumPy."""
        names = list(self)
        return [dict(zip(names, row)) for row in zip(*(self.column(name) for name in names))]

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame of pandas; `attrs["units"]` has the units."""
        import pandas

        frame = pandas.DataFrame({name: self[name] for name in self})
        frame.attrs["units"] = self.units
        return frame

    def to_polars(self) -> polars.DataFrame:
        """A data frame of Polars."""
        import polars

        return polars.DataFrame(self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A capsule with a stream of Arrow's C interface, one batch."""
        return self._native.__arrow_c_stream__(requested_schema)

    def filled(self) -> list[str]:
        """The columns in which a row has a value."""
        return [name for name in self if any(it is not None for it in self.column(name))]

    def __repr__(self) -> str:
        return f"<flitlab table {self.name}: {len(self)} rows, {len(self._columns)} columns>"

    def _repr_html_(self) -> str:
        names = self.filled()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        columns = [self.column(name)[:SHOWN] for name in names]
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell(it))}</td>" for it in row) + "</tr>"
            for row in zip(*columns)
        )
        more = f"<p>{len(self)} rows</p>" if len(self) > SHOWN else ""
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f'<div style="overflow-x: auto">{table}</div>{more}'


def cell(value: Any) -> str:
    """A value for people."""
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
