"""What is not there, or is not the caller's: both sound the same."""

from partita.errors import NotFoundError


def no_thread(thread_id: str) -> NotFoundError:
    """There is no such thread."""
    return NotFoundError(f"no thread {thread_id!r}", hint="GET /api/threads lists them")


def no_message(thread_id: str, message_id: str) -> NotFoundError:
    """There is no such message in a thread."""
    return NotFoundError(
        f"no message {message_id!r} in thread {thread_id!r}", hint="GET /api/threads/ID/messages lists them"
    )


def no_run(run_id: str) -> NotFoundError:
    """There is no such run."""
    return NotFoundError(f"no run {run_id!r}", hint="GET /api/runs lists them")
