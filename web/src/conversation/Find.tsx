import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useId, useState } from "react";
import { type Hit, search } from "../api/search";
import { Dialog } from "../ui/Dialog";
import { plural } from "../ui/format";
import { Failure } from "../ui/States";
import styles from "./Find.module.css";

interface Props {
  readonly threadId: string;
  readonly onChoose: (messageId: string) => void;
  readonly onClose: () => void;
}

/** Words in this thread, and where they stand. */
export function Find({ threadId, onChoose, onClose }: Props) {
  const [words, setWords] = useState("");
  const asked = useDeferredValue(words.trim());
  const id = useId();
  const query = useQuery({
    queryKey: ["find", threadId, asked],
    queryFn: ({ signal }) => search(asked, { thread: threadId, limit: 50 }, signal),
    enabled: asked !== "",
  });
  const hits = query.data?.items.filter((hit) => hit.messageId) ?? [];
  return (
    <Dialog title="Find in this session" onClose={onClose}>
      <form
        className={styles.find}
        onSubmit={(event) => {
          event.preventDefault();
          if (hits[0]?.messageId) onChoose(hits[0].messageId);
        }}
      >
        <label htmlFor={id} className="visually-hidden">
          Words to find
        </label>
        <input
          id={id}
          autoFocus
          value={words}
          placeholder="Words to find"
          onChange={(event) => setWords(event.target.value)}
        />
        {query.isError && <Failure error={query.error} />}
        {asked !== "" && query.data && (
          <p className={styles.count} role="status">
            {hits.length ? plural(hits.length, "message") : "Nothing found"}
          </p>
        )}
        <ol className={styles.hits}>
          {hits.map((hit) => (
            <li key={hit.messageId}>
              <button type="button" onClick={() => hit.messageId && onChoose(hit.messageId)}>
                <Snippet hit={hit} />
              </button>
            </li>
          ))}
        </ol>
      </form>
    </Dialog>
  );
}

function Snippet({ hit }: { hit: Hit }) {
  const points = [...hit.snippet];
  const pieces = [];
  let at = 0;
  for (const [start, end] of hit.highlights) {
    pieces.push(
      points.slice(at, start).join(""),
      <mark key={start}>{points.slice(start, end).join("")}</mark>,
    );
    at = end;
  }
  return (
    <>
      {pieces}
      {points.slice(at).join("")}
    </>
  );
}
