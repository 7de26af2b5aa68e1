"""Hypothesis strategies over the leaves of a JSON value."""

from hypothesis import strategies as st

from partita.testing.mutations import MARK, Path, changed, leaves
from partita.types.json import Json

__all__ = ["MARK", "Path", "changed", "changes", "leaves"]


@st.composite
def changes(draw: st.DrawFn, value: Json) -> tuple[Path, Json]:
    """A leaf of `value`, and `value` with that leaf changed."""
    path = draw(st.sampled_from(list(leaves(value))))
    return path, changed(value, path)
