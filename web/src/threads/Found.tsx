import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Query } from "../api/client";
import { type Hit, search } from "../api/search";
import type { ThreadSummary } from "../api/threads";
import { ago } from "../ui/format";
import { visible } from "../ui/hostile";
import { toThread } from "../ui/routing";
import { Empty, Failure, Loading } from "../ui/States";
import styles from "./Found.module.css";
import { pieces } from "./highlights";
import { matching, nameOf, shortProject } from "./rows";

const MOST_TITLES = 30;
const MOST_HITS = 50;
const PATIENCE = 180;

interface Props {
  readonly text: string;
  readonly rows: readonly ThreadSummary[];
  readonly query: Query;
  readonly onClear: () => void;
}

/** What was found: names among what is loaded, at once; then passages of messages, by thread. */
export function Found({ text, rows, query, onClear }: Props) {
  const titles = matching(rows, text).slice(0, MOST_TITLES);
  const asked = useSettled(text.trim());
  const { agent, project, tool, since, until } = query;
  const narrowed: Query = { agent, project, tool, since, until, limit: MOST_HITS };
  const found = useQuery({
    queryKey: ["search", asked, narrowed],
    queryFn: ({ signal }) => search(asked, narrowed, signal),
    enabled: asked !== "",
    placeholderData: (was) => was,
  });
  const shown = new Set(titles.map((row) => row.thread.id));
  const groups = grouped(found.data?.items ?? [], shown);
  const isSettled = asked === text.trim() && !found.isFetching;
  return (
    <div className={styles.found}>
      {titles.length > 0 && (
        <section aria-label="Sessions by name">
          <ul className={styles.list}>
            {titles.map((row) => (
              <li key={row.thread.id}>
                <a href={toThread(row.thread.id)} className={styles.title} data-found>
                  <bdi className={styles.name}>
                    <Marked text={nameOf(row)} marks={marksOf(nameOf(row), text)} />
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
                        {hit.role ?? hit.field} · {ago(hit.createdAt)}
                      </span>
                      <span className={styles.snippet}>
                        <Marked text={hit.snippet} marks={hit.highlights} />
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
          <Empty title="Nothing was found">
            <p>No name and no message holds all of these words.</p>
            <button type="button" className={styles.clear} onClick={onClear}>
              Clear the search
            </button>
          </Empty>
        ) : (
          <Loading what="Searching" />
        ))}
    </div>
  );
}

/** A text with the words that were found in it marked. */
function Marked({ text, marks }: { text: string; marks: readonly (readonly [number, number])[] }) {
  return pieces(text, marks).map((piece, index) =>
    piece.found ? <mark key={index}>{visible(piece.text)}</mark> : visible(piece.text),
  );
}

/** Where words stand in a name, in code points. */
function marksOf(name: string, text: string): readonly (readonly [number, number])[] {
  const low = name.toLocaleLowerCase();
  if (low.length !== name.length) return []; // some letters grow when they become small
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

/** Hits by thread, in the order of the best of each. A name that is shown already is not shown again. */
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

/** A text once nobody has written on for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PATIENCE);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
