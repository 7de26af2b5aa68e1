"""Prompts: what the user wrote apart from what was added, and titles from prompts."""

from hypothesis import given
from hypothesis import strategies as st

from partita.types.messages import UserMessage
from partita.types.tool_views import Notice, Prompt
from partita.views.messages import part_views
from partita.views.prompts import clean_title, is_telling, split_prompt
from tests.tables import each_row

CODEX = """\
# Context from my IDE setup:

## Active file: src/lamp.py

## Open tabs:
- lamp.py: src/lamp.py

## My request for Codex:
Trim the **lamp**
"""
MATE = '<teammate-message teammate_id="keeper" color="blue">\nThe oil is low.\n</teammate-message>'
REMINDER = "<system-reminder>\nUse the to-do list.\n</system-reminder>"

SPLIT: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
    "the context of an editor": (
        CODEX,
        "Trim the **lamp**",
        [
            (
                "Context from my IDE setup",
                "## Active file: src/lamp.py\n\n## Open tabs:\n- lamp.py: src/lamp.py",
            )
        ],
    ),
    "a message of another agent": (MATE, "", [("message from keeper", "The oil is low.")]),
    "a reminder at the end": (
        f"Light it.\n\n{REMINDER}",
        "Light it.",
        [("system reminder", "Use the to-do list.")],
    ),
    "a selection before and a reminder after": (
        f"<ide_selection>line 3</ide_selection>\nLight it.\n{REMINDER}\n",
        "Light it.",
        [("selection in the editor", "line 3"), ("system reminder", "Use the to-do list.")],
    ),
    "what the user wrote in tags": (
        "<user_query>\nLight it.\n</user_query>\n<environment_details>night</environment_details>",
        "Light it.",
        [("environment", "night")],
    ),
}


@each_row(("text", "written", "added"), SPLIT.values(), ids=SPLIT)
def test_what_was_added_is_apart_from_what_the_user_wrote(
    text: str, written: str, added: list[tuple[str, str]]
) -> None:
    found = split_prompt(text)
    assert found is not None
    assert found.text == written
    assert [(notice.label, notice.text) for notice in found.added] == added


WHOLE = {
    "a plain text": "Light the lamp.",
    "a heading of the user": "# Context from my IDE setup is missing",
    "the heading of the request alone": "Look:\n## My request for Codex:\nTrim it",
    "HTML": "<div>Why is this not centred?</div>",
    "a tag in the middle": f"Why does it print {REMINDER} here?",
    "a tag that is not closed": "<system-reminder>Light it.",
    "an empty text": "",
}


@each_row("text", WHOLE.values(), ids=WHOLE)
def test_a_prompt_without_additions_is_shown_as_it_is(text: str) -> None:
    assert split_prompt(text) is None


def test_many_tags_that_are_not_closed_take_little_time() -> None:
    assert split_prompt("<system-reminder>" * 60_000) is None
    assert split_prompt("<ide_selection></ide_selection>x" * 30_000) is not None


def test_the_view_of_a_user_message_has_its_prompt() -> None:
    views = part_views(UserMessage(id="m1", content=f"Light it. {REMINDER}"))
    notice = Notice(label="system reminder", text="Use the to-do list.")
    assert views == {"/content/parts/0": Prompt(text="Light it.", added=(notice,))}


TITLES = {
    "the request": (CODEX, "Trim the **lamp**"),
    "the message of an agent": (MATE, "The oil is low."),
    "an image": ("[Image #1] Why is it dark?", "Why is it dark?"),
    "pasted text": ("Look [Pasted text #2 +31 lines] and fix", "Look and fix"),
    "a heading": ("## Plan\n\nTrim it", "Plan Trim it"),
    "a list": ("- trim it\n- light it", "trim it - light it"),
    "several lines": ("Trim\n\n the lamp", "Trim the lamp"),
    "nothing": ("[Image #1]", ""),
    "a number": ("-5 degrees", "5 degrees"),
}


@each_row(("text", "title"), TITLES.values(), ids=TITLES)
def test_a_title_has_what_the_user_asked(text: str, title: str) -> None:
    assert clean_title(text) == title


def test_a_long_title_is_cut() -> None:
    assert clean_title("lamp " * 100, 20) == "lamp lamp lamp lamp…"


@given(st.text(max_size=400))
def test_a_clean_title_is_clean(text: str) -> None:
    title = clean_title(text)
    assert len(title) <= 120
    assert "\n" not in title


TELLING = {"y": False, "1": False, "ok": False, "…!?": False, "fix": True, "灯を点けて": True, "go on": True}


@each_row(("title", "expected"), TELLING.items(), ids=TELLING)
def test_a_short_reply_does_not_say_what_a_session_is_about(title: str, expected: bool) -> None:
    assert is_telling(title) is expected
