"""One JSON value a line. A line may end in LF or CRLF, the last one in nothing."""

from .record import Record, value_of

_LINE_END = b"\n"


class LinesReader:
    """Bytes of lines in, a record for each line out; a blank line says nothing."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []  # of the line so far: one huge line may come in tiny slices

    def feed(self, data: bytes) -> list[Record]:
        """The records of the lines that these bytes end."""
        *ended, rest = data.split(_LINE_END)
        records: list[Record] = []
        for line in ended:
            self._pieces += (line, _LINE_END)
            records += self.finish()
        self._pieces.append(rest)
        return records

    def finish(self) -> list[Record]:
        """The record of a last line that does not end."""
        raw = b"".join(self._pieces)
        self._pieces = []
        return [Record(raw, value_of(raw))] if raw else []
