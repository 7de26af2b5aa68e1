"""The projects that a text names, in every list that can be limited to a project."""

from pathlib import Path

from partita.store.projects import is_project
from partita.store.store import Store
from partita.store.values import PartFilter, SearchFilter, StatFilter, ThreadFilter
from tests.store.emptying import in_empty_store
from tests.store.examples import tool_call_message
from tests.tables import each_row

NAMED: dict[str, tuple[str, str, bool]] = {
    "the whole path": ("/home/me/app", "/home/me/app", True),
    "a slash at the end": ("/home/me/app", "/home/me/app/", True),
    "the last folder": ("/home/me/app", "app", True),
    "the last two folders": ("/home/me/app", "me/app", True),
    "a folder above": ("/home/me/app", "me", True),
    "a cut path, as in a list": ("/home/me/app", "…/me/app", True),
    "another case": ("/home/me/App", "app", True),
    "a name that is no path": ("my app", "my app", True),
    "a part of a folder": ("/home/me/app", "ap", False),
    "folders that do not follow each other": ("/home/me/app", "home/app", False),
    "an absolute path means one project": ("/home/me/app", "/home/me", False),
    "case in an absolute path": ("/home/me/App", "/home/me/app", False),
    "a folder of Windows": ("D:\\work\\App", "app", True),
    "folders of Windows": ("D:\\work\\App", "work\\app", True),
    "folders of Windows with slashes": ("D:\\work\\App", "work/App", True),
    "a path of Windows": ("D:\\work\\App", "d:\\work\\app\\", True),
    "a path of Windows means one project": ("D:\\work\\App", "D:\\work", False),
}


@each_row(("project", "text", "expected"), NAMED.values(), ids=NAMED)
def test_a_text_names_a_project(project: str, text: str, expected: bool) -> None:
    assert is_project(project, text) is expected


def test_no_text_names_the_absence_of_a_project() -> None:
    assert not is_project(None, "app")


def test_the_home_folder_can_be_written_as_a_tilde() -> None:
    assert is_project(str(Path.home() / "app"), "~/app")
    assert not is_project("/other/app", "~/app")


@each_row("text", ["app", "me/app", "/home/me/app", "app/"])
@in_empty_store
async def test_every_list_takes_the_name_that_lists_show(store: Store, text: str) -> None:
    await _fill(store)
    listed = await store.threads.list(ThreadFilter(project=text))
    assert [thread.id for thread in listed] == ["wanted"]
    assert (await store.threads.facets(ThreadFilter(project=text))).threads == 1
    parts = await store.messages.find_parts(PartFilter(project=text))
    assert {part.thread_id for part in parts} == {"wanted"}
    hits = await store.search("walrus", SearchFilter(project=text))
    assert {hit.thread_id for hit in hits} == {"wanted"}
    (total,) = await store.stats.totals(StatFilter(project=text))
    assert (total.messages, total.tool_calls) == (1, 1)


async def test_a_project_with_exactly_this_name_is_the_only_one(store: Store) -> None:
    for number, project in enumerate(("app", "/home/me/app")):
        await store.threads.create(f"t{number}", project=project)
    assert [thread.id for thread in await store.threads.list(ThreadFilter(project="app"))] == ["t0"]
    assert (await store.threads.facets(ThreadFilter(project="app"))).threads == 1
    both = await store.threads.list(ThreadFilter(project="App"))
    assert {thread.id for thread in both} == {"t0", "t1"}


async def _fill(store: Store) -> None:
    projects = {"wanted": "/home/me/app", "other": "/home/me/application", "none": None}
    for thread_id, project in projects.items():
        await store.threads.create(thread_id, project=project)
        await store.messages.save([tool_call_message("m", output="a walrus was here")], thread_id=thread_id)
