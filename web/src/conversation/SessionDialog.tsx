import { useQueryClient } from "@tanstack/react-query";
import type { Thread } from "../partita.gen";
import { NoteDialog } from "../threads/NoteDialog";
import { TagsDialog } from "../threads/TagsDialog";

interface Props {
  readonly thread: Thread;
  readonly kind: "tags" | "note";
  readonly onClose: () => void;
}

/** Edits the tags or the note of the open session. */
export function SessionDialog({ thread, kind, onClose }: Props) {
  const client = useQueryClient();
  const { id, metadata } = thread;
  const update = (changed: object) =>
    client.setQueryData<Thread>(
      ["thread", id],
      (was) => was && { ...was, metadata: { ...was.metadata, ...changed } },
    );
  if (kind === "note")
    return (
      <NoteDialog
        id={id}
        note={typeof metadata?.note === "string" ? metadata.note : null}
        onChange={(note) => update({ note })}
        onClose={onClose}
      />
    );
  const tags = Array.isArray(metadata?.tags) ? metadata.tags.filter((tag) => typeof tag === "string") : [];
  return (
    <TagsDialog
      sessions={[{ id, tags }]}
      onChange={([changed]) => changed && update({ tags: changed.tags })}
      onClose={onClose}
    />
  );
}
