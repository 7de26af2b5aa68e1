import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useId, useState } from "react";
import { isSearchable, search } from "../api/search";
import { Dialog } from "../ui/Dialog";
import { plural } from "../ui/format";
import { Highlighted } from "../ui/Highlighted";
import { Failure } from "../ui/States";
import styles from "./Find.module.css";

interface Props {
  readonly threadId: string;
  readonly onChoose: (messageId: string) => void;
  readonly onClose: () => void;
}

/** Full-text search in one thread. */
export function Find({ threadId, onChoose, onClose }: Props) {
  const [text, setText] = useState("");
  const searchText = useDeferredValue(text.trim());
  const id = useId();
  const query = useQuery({
    queryKey: ["find", threadId, searchText],
    queryFn: ({ signal }) => search(searchText, { thread: threadId, limit: 50 }, signal),
    enabled: isSearchable(searchText),
  });
  const hits = query.data?.items.filter((hit) => hit.messageId) ?? [];
  return (
    <Dialog title="Find in this thread" onClose={onClose}>
      <form
        className={styles.find}
        onSubmit={(event) => {
          event.preventDefault();
          if (hits[0]?.messageId) onChoose(hits[0].messageId);
        }}
      >
        <label htmlFor={id} className="visually-hidden">
          Search text
        </label>
        <input
          id={id}
          autoFocus
          value={text}
          placeholder="Search text"
          onChange={(event) => setText(event.target.value)}
        />
        {query.isError && <Failure error={query.error} />}
        {isSearchable(searchText) && query.data && (
          <p className={styles.count} role="status">
            {hits.length ? plural(hits.length, "message") : "No results"}
          </p>
        )}
        <ol className={styles.hits}>
          {hits.map((hit) => (
            <li key={hit.messageId}>
              <button type="button" onClick={() => hit.messageId && onChoose(hit.messageId)}>
                <Highlighted text={hit.snippet} highlights={hit.highlights} />
              </button>
            </li>
          ))}
        </ol>
      </form>
    </Dialog>
  );
}
