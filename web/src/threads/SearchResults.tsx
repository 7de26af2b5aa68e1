import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Query } from "../api/client";
import { type Hit, search } from "../api/search";
import type { ThreadSummary } from "../api/threads";
import { ago } from "../ui/format";
import { Highlighted } from "../ui/Highlighted";
import { toThread } from "../ui/routing";
import { Empty, Failure, Loading } from "../ui/States";
import { visible } from "../ui/sanitize";
import { matchingRows, nameOf, shortProject } from "./rows";
import styles from "./SearchResults.module.css";

const MAX_TITLES = 30;
const MAX_HITS = 50;
const DEBOUNCE_MS = 180;

interface Props {
  readonly text: string;
  readonly rows: readonly ThreadSummary[];
  readonly query: Query;
  readonly onClear: () => void;
}

/** Search results: matching names of loaded threads at once, then matches in messages by thread. */
export function SearchResults({ text, rows, query, onClear }: Props) {
  const titles = matchingRows(rows, text).slice(0, MAX_TITLES);
  const searchText = useDebounced(text.trim());
  const { agent, project, tool, since, until } = query;
  const searchQuery: Query = { agent, project, tool, since, until, limit: MAX_HITS };
  const found = useQuery({
    queryKey: ["search", searchText, searchQuery],
    queryFn: ({ signal }) => search(searchText, searchQuery, signal),
    enabled: searchText !== "",
    placeholderData: (was) => was,
  });
  const shown = new Set(titles.map((row) => row.thread.id));
  const groups = grouped(found.data?.items ?? [], shown);
  const isSettled = searchText === text.trim() && !found.isFetching;
  return (
    <div className={styles.found}>
      {titles.length > 0 && (
        <section aria-label="Sessions by name">
          <ul className={styles.list}>
            {titles.map((row) => (
              <li key={row.thread.id}>
                <a href={toThread(row.thread.id)} className={styles.title} data-found>
                  <bdi className={styles.name}>
                    <Highlighted text={nameOf(row)} highlights={highlightsOf(nameOf(row), text)} />
                  </bdi>
                  <span className={styles.from}>
                    {visible(
                      [row.thread.project && shortProject(row.thread.project), row.thread.agent]
                        .filter(Boolean)
                        .join(" · "),
                    )}
                  </span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
      {groups.length > 0 && (
        <section aria-label="In messages" data-busy={!isSettled}>
          {groups.map(({ thread, title, hits }) => (
            <div key={thread} className={styles.group}>
              <bdi className={styles.heading}>{visible(title || "Untitled")}</bdi>
              <ul className={styles.list}>
                {hits.map((hit, index) => (
                  <li key={index}>
                    <a href={toThread(hit.threadId, hit.messageId)} className={styles.hit} data-found>
                      <span className={styles.meta}>
                        {hit.role ?? hit.field}
                        {hit.createdAt && ` · ${ago(hit.createdAt)}`}
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
      )}
      {found.error && <Failure error={found.error} retry={() => void found.refetch()} />}
      {!found.error &&
        groups.length === 0 &&
        titles.length === 0 &&
        (isSettled ? (
          <Empty title="No results">
            <p>No session name or message contains all of these words.</p>
            <button type="button" className={styles.clear} onClick={onClear}>
              Clear search
            </button>
          </Empty>
        ) : (
          <Loading what="Searching" />
        ))}
    </div>
  );
}

/** The positions of the words in a name, in code points. */
function highlightsOf(name: string, text: string): readonly (readonly [number, number])[] {
  const low = name.toLocaleLowerCase();
  if (low.length !== name.length) return []; // lower case changes the length of some letters
  const found: [number, number][] = [];
  for (const word of text.toLocaleLowerCase().split(/\s+/).filter(Boolean)) {
    const at = low.indexOf(word);
    if (at < 0) continue;
    const begin = Array.from(name.slice(0, at)).length;
    found.push([begin, begin + Array.from(name.slice(at, at + word.length)).length]);
  }
  return found.sort((a, b) => a[0] - b[0]);
}

interface Group {
  readonly thread: string;
  readonly title: string | null | undefined;
  readonly hits: Hit[];
}

/** Hits grouped by thread, in the order of the best hit. Names that are shown already are omitted. */
function grouped(hits: readonly Hit[], shown: ReadonlySet<string>): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const hit of hits) {
    if (hit.field === "title" && shown.has(hit.threadId)) continue;
    const group = groups.get(hit.threadId) ?? { thread: hit.threadId, title: hit.title, hits: [] };
    group.hits.push(hit);
    groups.set(hit.threadId, group);
  }
  return [...groups.values()].map((group) => {
    const inside = group.hits.filter((hit) => hit.field !== "title");
    return inside.length ? { ...group, hits: inside } : group;
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
