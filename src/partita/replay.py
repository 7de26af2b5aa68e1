"""Play recorded runs, compare them, and decode them again."""

from typing import TYPE_CHECKING

from partita.lazy import lazy_exports

if TYPE_CHECKING:
    from .runtime.compare.differences import Difference as Difference
    from .runtime.compare.differences import TextPiece as TextPiece
    from .runtime.compare.run_diff import PartDiff as PartDiff
    from .runtime.compare.run_diff import RunDiff as RunDiff
    from .runtime.compare.run_diff import RunFact as RunFact
    from .runtime.compare.run_diff import diff_runs as diff_runs
    from .runtime.rebuild.report import ChangedMessage as ChangedMessage
    from .runtime.rebuild.report import ReprojectedRun as ReprojectedRun
    from .runtime.rebuild.report import ReprojectReport as ReprojectReport
    from .runtime.rebuild.reproject import reproject as reproject
    from .runtime.replay.playback import play as play
    from .runtime.replay.playback import play_sse as play_sse
    from .runtime.replay.service import ReplayService as ReplayService
    from .runtime.replay.service import rerun as rerun
    from .runtime.replay.stepper import Stepper as Stepper


# The same names at run time, by the module that defines them: each module is imported on first use.
EXPORTS: dict[str, tuple[str, ...]] = {
    "partita.runtime.compare.differences": (
        "Difference",
        "TextPiece",
    ),
    "partita.runtime.compare.run_diff": (
        "RunFact",
        "PartDiff",
        "RunDiff",
        "diff_runs",
    ),
    "partita.runtime.rebuild.report": (
        "ChangedMessage",
        "ReprojectReport",
        "ReprojectedRun",
    ),
    "partita.runtime.rebuild.reproject": ("reproject",),
    "partita.runtime.replay.playback": (
        "play",
        "play_sse",
    ),
    "partita.runtime.replay.service": (
        "ReplayService",
        "rerun",
    ),
    "partita.runtime.replay.stepper": ("Stepper",),
}

if not TYPE_CHECKING:  # type checkers would accept every name of a module with `__getattr__`
    __getattr__, __dir__, __all__ = lazy_exports(__name__, EXPORTS)
