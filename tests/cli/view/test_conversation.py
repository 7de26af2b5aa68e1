"""Rendering of a whole thread."""

from datetime import timedelta

from partita.cli.view.message import draw_conversation
from partita.store.threads.lists import ThreadSummary
from partita.types.messages import Message, UserMessage
from partita.types.threads import Thread
from tests.cli.rendering import DEFAULT, render
from tests.cli.sample_threads import CODING, START

THREAD = Thread(
    id="0198a3c2-7d10",
    title="Fix the flaky [bold]clock[/] test",
    agent="claude-code",
    project="/home/ada/clock",
    message_count=5,
    metadata={"gitBranch": "flaky"},
)
SUMMARY = ThreadSummary(
    thread=THREAD,
    title=THREAD.title,
    models=("sonata-2",),
    input_tokens=30_480,
    output_tokens=1_360,
    cost=0.456,
)
TIMES = (START, START + timedelta(minutes=2))
SHOWN: list[Message] = [message for message in CODING if not message.internal]


def show(messages: list[Message], others: dict[str, list[Message]], left_out: int = 0) -> str:
    return render(*draw_conversation(SUMMARY, messages, others, DEFAULT, times=TIMES, left_out=left_out))


def test_thread_starts_with_its_title_and_ends_with_totals() -> None:
    lines = show(SHOWN, {}).split("\n")
    assert lines[:10] == [
        "Fix the flaky [bold]clock[/] test",
        "0198a3c2-7d10 · claude-code · /home/ada/clock · branch flaky",
        "sonata-2 · 5 messages · 30.5k in, 1.4k out · $0.46",
        "2026-03-02 14:02 → 14:04 UTC (2 min)",
        "",
        "system · 2026-03-02 14:02:11",
        "  You are a careful engineer.",
        "",
        "user · 14:02:11",
        "  ▌ The clock test fails one time in ten.",
    ]
    assert lines[-5:] == [
        "─────",
        "5 messages · 11 calls (1 failed, 1 denied, 1 interrupted, 1 waiting)",
        "tokens  28,380 in · 1,270 out",
        "sub-agents  2 with 4 messages · 2,100 in · 90 out",
        "",
    ]


WORK = """\
… 4 earlier messages

claude-code · 2026-03-02 14:03:13 · sonata-2 · 15.9k in, 410 out
  ⊘ $ git push --force  denied
  │ not on a Friday

  ■ $ pytest --count 1000  interrupted

  ? write  NOTES.md  +3  waiting for approval
  │ a new file
  │ 1 + # Notes
  │ 2 +
  │ 3 + The clock is fine.

  ↗ Clocks  https://docs.example/clock

  ▣ file  log.txt · text/plain · https://files.example/log.txt

  ✓ tracker: create_issue
  │ title: Clock
  │ labels: bug
  │ → number: 7
  │   url: /7

  ## Done

   1 The clock takes its time from a source.
   2 `pytest` is green:

  ```python
  clock = Clock(now=lambda: 60)
  ```

─────
1 message · 4 calls (1 denied, 1 interrupted, 1 waiting)
"""


def test_message_is_rendered_part_by_part() -> None:
    assert WORK in show(SHOWN[-1:], {}, left_out=4)


def test_other_branches_are_listed_where_they_start() -> None:
    others: list[Message] = [
        UserMessage(id=f"b{number}", content=f"Or else {number}.") for number in range(5)
    ]
    shown = show([UserMessage(id="u", content="Push it.")], {"u": others})
    assert (
        """\
⑂ 5 other branches here
  --branch b0  Or else 0.
  --branch b1  Or else 1.
  --branch b2  Or else 2.
  … and 2 more
user
  ▌ Push it.
"""
        in shown
    )
