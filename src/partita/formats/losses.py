"""What a conversion could not carry, told one by one."""

from typing import NamedTuple


class Loss(NamedTuple):
    """One thing that did not survive: where it was, what it was, and why it could not be carried."""

    path: str
    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what} ({self.why})"
