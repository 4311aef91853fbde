"""Tables: rows of figures, for pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._libraries import library

if TYPE_CHECKING:
    import pandas


class Table(list[dict[str, Any]]):
    """Rows of figures: a list of dictionaries, all with the same keys; None where a figure does not apply."""

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a pandas.DataFrame with a line per row and a column per key. Raises ImportError without pandas."""
        frame: pandas.DataFrame = library("pandas", "Table.to_pandas()").DataFrame(self)
        return frame
