"""Views of stored messages for clients of Mastra."""

from hypothesis import given

from partita.server.dialects.mastra_messages import ui_messages, v1_messages, v2_messages
from partita.types.json import dumps, loads
from partita.types.messages import AssistantMessage, Message
from partita.types.parts import TextPart
from tests.canonical import messages
from tests.formats.mastra_messages import load_v2


def test_texts_are_repeated_in_the_content_string_for_old_readers() -> None:
    (row,) = v2_messages([AssistantMessage(id="m", content=[TextPart("One."), TextPart("Two.")])])
    assert row["content"]["content"] == "One.\nTwo."
    assert (row["threadId"], row["resourceId"]) == ("", "")


@given(message=messages())
def test_every_message_can_be_shown_in_every_version(message: Message) -> None:
    """A client gets a response, and Mastra's reader can parse the rows."""
    (row,) = loads(dumps(v2_messages([message])))
    assert load_v2(row).messages[0].id == message.id
    dumps([ui_messages([message], f"ai-sdk-ui-v{version}") for version in (4, 5, 6, 7)])
    dumps(v1_messages([message]))
