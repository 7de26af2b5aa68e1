import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { Problem, type Query } from "../api/client";
import { type Hit, isSearchable, type SearchPage, search } from "../api/search";
import { Button } from "../ui/Button";
import { count, moment, plural } from "../ui/format";
import { Highlighted } from "../ui/Highlighted";
import { toThread } from "../ui/routing";
import { Empty, Failure, Loading } from "../ui/States";
import { visible } from "../ui/sanitize";
import { useNow } from "../ui/useNow";
import { shortTime } from "./groups";
import styles from "./SearchResults.module.css";
import { plainSnippet } from "./snippet";
import { useSteps } from "./useSteps";

const MAX_HITS = 60;
const PER_THREAD = 3;
const DEBOUNCE_MS = 180;

interface Props {
  readonly text: string;
  readonly query: Query;
  readonly current: string | undefined;
  readonly onClear: () => void;
  /** Null if there are no filters. */
  readonly onClearFilters: (() => void) | null;
}

/** Search results by session: the session with the number of its matches, then the best of them. */
export function SearchResults({ text, query, current, onClear, onClearFilters }: Props) {
  const searchText = useDebounced(text.trim());
  const searchQuery: Query = { ...query, limit: MAX_HITS, perThread: PER_THREAD };
  const found = useInfiniteQuery({
    queryKey: ["search", searchText, searchQuery],
    queryFn: ({ pageParam, signal }) => search(searchText, { ...searchQuery, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page: SearchPage) => page.next ?? null,
    enabled: isSearchable(searchText),
    placeholderData: (was) => was,
    retry: false,
  });
  const scroller = useRef<HTMLDivElement>(null);
  const pages = found.data?.pages;
  const groups = useMemo(() => grouped(pages?.flatMap((page) => page.items) ?? []), [pages]);
  const ids = groups.map(({ thread }) => thread);
  const focus = (id: string | undefined) =>
    scroller.current?.querySelector<HTMLElement>(`[data-session="${CSS.escape(id ?? "")}"]`)?.focus();
  useSteps({ ids, current, focus, step: (by) => focus(stepFrom(scroller.current, ids, by)), scroller });
  const now = useNow();

  if (!isSearchable(text))
    return (
      <Empty title="Nothing to search for">
        <p>
          Write a word, a "phrase" or a qualifier such as <code>tool:Bash</code>, <code>file:app.py</code>,{" "}
          <code>project:app</code> or <code>after:2w</code>.
        </p>
      </Empty>
    );
  const isSettled = searchText === text.trim() && !found.isFetching;
  if (found.error && isSettled) return <SearchError error={found.error} retry={() => void found.refetch()} />;
  if (!groups.length && !isSettled) return <Loading what="Searching" />;
  if (!groups.length)
    return (
      <Empty title="No results">
        <p>
          No message or title contains all of these words{onClearFilters && ", with these filters"}. Try fewer
          words, or one OR other.
        </p>
        {onClearFilters && (
          <Button small onClick={onClearFilters}>
            Clear filters
          </Button>
        )}
        <Button small onClick={onClear}>
          Clear search
        </Button>
      </Empty>
    );
  return (
    <div className={styles.results} ref={scroller}>
      <p className={styles.total} role="status">
        {totals(pages?.[0])}
      </p>
      <section aria-label="Search results" data-busy={!isSettled}>
        {groups.map((group) => (
          <Result
            key={group.thread}
            group={group}
            text={searchText}
            now={now}
            isCurrent={group.thread === current}
          />
        ))}
      </section>
      {found.hasNextPage && (
        <Button
          small
          className={styles.more}
          disabled={found.isFetchingNextPage}
          onClick={() => void found.fetchNextPage()}
        >
          Show more
        </Button>
      )}
    </div>
  );
}

interface ResultProps {
  readonly group: Group;
  readonly text: string;
  readonly now: number;
  readonly isCurrent: boolean;
}

/** A session with its best matches. */
function Result({ group, text, now, isCurrent }: ResultProps) {
  const { thread, title, name, matches, hits, time } = group;
  return (
    <div className={styles.group} data-current={isCurrent || undefined}>
      <a
        href={toThread(thread)}
        className={styles.title}
        data-found
        data-session={thread}
        aria-current={isCurrent ? "page" : undefined}
      >
        <bdi className={styles.name}>
          {name ? (
            <Highlighted text={name.snippet} highlights={name.highlights} />
          ) : (
            visible(title || "Untitled")
          )}
        </bdi>
        <span className={styles.meta}>
          {matches > 0 && <span>{plural(matches, "match", "matches")}</span>}
          {time && <Time time={time} now={now} />}
        </span>
      </a>
      <ul className={styles.list}>
        {hits.map((hit) => (
          <li key={hit.messageId}>
            <a href={toThread(thread, hit.messageId, hit.part, text)} className={styles.hit} data-found>
              <span className={styles.meta}>
                <span>{LABELS[hit.field] ?? hit.role}</span>
                {hit.createdAt && <Time time={hit.createdAt} now={now} />}
              </span>
              <span className={styles.snippet}>
                <Highlighted {...plainSnippet(hit.snippet, hit.highlights)} />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What a passage is from, if it is not the text of a message. */
const LABELS: Readonly<Record<string, string>> = {
  reasoning: "Reasoning",
  "tool-input": "Call",
  "tool-output": "Output",
};

const Time = ({ time, now }: { time: string; now: number }) => (
  <time dateTime={time} title={moment(time)}>
    {shortTime(time, now)}
  </time>
);

/** A query with a mistake is one line; any other error can be retried. */
function SearchError({ error, retry }: { error: Error; retry: () => void }) {
  if (!(error instanceof Problem) || error.status !== 400) return <Failure error={error} retry={retry} />;
  return (
    <p className={styles.mistake} role="alert">
      {visible(error.message)}
      {error.hint && <span> ({visible(error.hint)})</span>}
    </p>
  );
}

/** 12 sessions, 340 matches */
function totals(page: SearchPage | undefined): string {
  const { threads = 0, matches = 0, complete = true } = page ?? {};
  const more = complete ? "" : "+";
  const sessions = `${count(threads)}${more} ${threads === 1 && complete ? "session" : "sessions"}`;
  return matches ? `${sessions}, ${count(matches)}${more} ${matches === 1 ? "match" : "matches"}` : sessions;
}

/** The session beside the one that has the focus. */
function stepFrom(scroller: HTMLElement | null, ids: readonly string[], by: number): string | undefined {
  const group = document.activeElement?.closest(`.${styles.group}`);
  const id = scroller?.contains(group ?? null)
    ? group?.querySelector<HTMLElement>("[data-session]")?.dataset.session
    : undefined;
  const at = id === undefined ? -1 : ids.indexOf(id);
  return ids[at < 0 ? 0 : at + by];
}

interface Group {
  readonly thread: string;
  readonly title: string | null | undefined;
  /** The hit in the title. */
  readonly name: Hit | undefined;
  readonly matches: number;
  readonly time: string | null | undefined;
  readonly hits: readonly Hit[];
}

/** The hits of each thread, which follow each other. */
function grouped(hits: readonly Hit[]): readonly Group[] {
  const groups = new Map<string, Hit[]>();
  for (const hit of hits) {
    const group = groups.get(hit.threadId);
    if (group) group.push(hit);
    else groups.set(hit.threadId, [hit]);
  }
  return [...groups].map(([thread, all]) => {
    const name = all.find((hit) => hit.field === "title");
    return {
      thread,
      title: all[0]?.title,
      name,
      matches: all[0]?.threadMatches ?? 0,
      time: name?.createdAt,
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
