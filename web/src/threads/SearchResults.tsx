import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Query } from "../api/client";
import { type Hit, isSearchable, search } from "../api/search";
import { ago, count, plural } from "../ui/format";
import { Highlighted } from "../ui/Highlighted";
import { toThread } from "../ui/routing";
import { Empty, Failure, Loading } from "../ui/States";
import { visible } from "../ui/sanitize";
import styles from "./SearchResults.module.css";

const MAX_HITS = 60;
const PER_THREAD = 3;
const DEBOUNCE_MS = 180;

interface Props {
  readonly text: string;
  readonly query: Query;
  readonly onClear: () => void;
}

/** Search results by thread: the thread with the number of its matches, then the best of them. */
export function SearchResults({ text, query, onClear }: Props) {
  const searchText = useDebounced(text.trim());
  const { agent, project, tool, since, until } = query;
  const searchQuery: Query = { agent, project, tool, since, until, limit: MAX_HITS, perThread: PER_THREAD };
  const found = useQuery({
    queryKey: ["search", searchText, searchQuery],
    queryFn: ({ signal }) => search(searchText, searchQuery, signal),
    enabled: isSearchable(searchText),
    placeholderData: (was) => was,
    retry: false,
  });
  if (!isSearchable(text))
    return (
      <Empty title="Nothing to search for">
        <p>
          Write a word, a "phrase" or a qualifier such as <code>tool:Bash</code>, <code>file:app.py</code>,{" "}
          <code>project:app</code> or <code>after:2w</code>.
        </p>
      </Empty>
    );
  const groups = grouped(found.data?.items ?? []);
  const isSettled = searchText === text.trim() && !found.isFetching;
  if (found.error) return <Failure error={found.error} retry={() => void found.refetch()} />;
  if (!groups.length && !isSettled) return <Loading what="Searching" />;
  if (!groups.length)
    return (
      <Empty title="No results">
        <p>No message or title contains all of these words. Try fewer words, or one OR other.</p>
        <button type="button" className={styles.clear} onClick={onClear}>
          Clear search
        </button>
      </Empty>
    );
  return (
    <div className={styles.found}>
      <p className={styles.total} role="status">
        {found.data?.next ? `${count(groups.length)}+ threads` : plural(groups.length, "thread")}
      </p>
      <section aria-label="Search results" data-busy={!isSettled}>
        {groups.map(({ thread, title, name, matches, hits }) => (
          <div key={thread} className={styles.group}>
            <a href={toThread(thread)} className={styles.title} data-found>
              <bdi className={styles.name}>
                {name ? (
                  <Highlighted text={name.snippet} highlights={name.highlights} />
                ) : (
                  visible(title || "Untitled")
                )}
              </bdi>
              {matches > 0 && <span className={styles.meta}>{plural(matches, "match", "matches")}</span>}
            </a>
            <ul className={styles.list}>
              {hits.map((hit) => (
                <li key={hit.messageId}>
                  <a
                    href={toThread(hit.threadId, hit.messageId, hit.part, searchText)}
                    className={styles.hit}
                    data-found
                  >
                    <span className={styles.meta}>
                      {[hit.role, hit.createdAt && ago(hit.createdAt)].filter(Boolean).join(" · ")}
                    </span>
                    <span className={styles.snippet}>
                      <Highlighted text={hit.snippet} highlights={hit.highlights} />
                    </span>
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </section>
    </div>
  );
}

interface Group {
  readonly thread: string;
  readonly title: string | null | undefined;
  /** The hit in the title. */
  readonly name: Hit | undefined;
  readonly matches: number;
  readonly hits: readonly Hit[];
}

/** The hits of each thread, which follow each other. */
function grouped(hits: readonly Hit[]): readonly Group[] {
  return [...new Set(hits.map((hit) => hit.threadId))].map((thread) => {
    const all = hits.filter((hit) => hit.threadId === thread);
    return {
      thread,
      title: all[0]?.title,
      name: all.find((hit) => hit.field === "title"),
      matches: all[0]?.threadMatches ?? 0,
      hits: all.filter((hit) => hit.field !== "title"),
    };
  });
}

/** The text after the user has paused typing. */
function useDebounced(text: string): string {
  const [debounced, setDebounced] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return debounced;
}
