import { PanelLeftClose, Search, X } from "lucide-react";
import { type KeyboardEvent, useCallback, useMemo, useRef } from "react";
import { flushSync } from "react-dom";
import { Button, IconButton } from "../ui/Button";
import { useCommands } from "../ui/commands";
import { count, plural } from "../ui/format";
import { lazyComponent } from "../ui/lazyModule";
import { href, usePlace } from "../ui/routing";
import { Empty, Failure, Loading } from "../ui/States";
import { focusSearch } from "../ui/sessionSearch";
import { useSidebar } from "../ui/sidebar";
import { FilterBar } from "./FilterBar";
import { addressOf, chips, cleared, isEmpty, readFilters, toQuery, without } from "./filters";
import { ImportBar } from "./ImportBar";
import { SavedSearches } from "./SavedSearches";
import { ThreadList } from "./ThreadList";
import styles from "./Threads.module.css";
import { useFilters } from "./useFilters";
import { useFacets, useRows } from "./useRows";

const SearchResults = lazyComponent(
  () => import("./SearchResults").then((it) => it.SearchResults),
  <Loading what="Searching" />,
);

/** The sidebar: the sessions with search and filters. */
export function Threads({ current }: { current?: string }) {
  const [filters, setFilters] = useFilters();
  const { text = "", ...withoutText } = filters;
  const setText = (next: string) => setFilters({ ...withoutText, ...(next && { text: next }) });
  const filtersKey = addressOf(withoutText);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key identifies the filters
  const query = useMemo(() => toQuery(filters), [filtersKey]);
  const { list, rows, rowsKey, rowsSort, change, refresh, progress } = useRows(query, filters.sort);
  const facets = useFacets(query, !list.isPending);
  const field = useRef<HTMLInputElement>(null);
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = list;
  const more = useCallback(() => void fetchNextPage(), [fetchNextPage]);
  const sidebar = useSidebar();
  const isSearching = text.trim() !== "";
  const Heading = usePlace().path[0] === "sessions" ? "h1" : "h2";

  useCommands([
    {
      keys: "/",
      what: "Search sessions",
      group: "Sessions",
      run: () => {
        flushSync(sidebar.show); // what is typed next belongs in the field
        focusSearch();
      },
    },
    {
      what: "Only sessions with errors",
      group: "Sessions",
      run: () => setFilters(filters.errors ? without(filters, ["errors"]) : { ...filters, errors: true }),
    },
  ]);
  const clear = () => {
    setText("");
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Escape") {
      if (text) setText("");
      else event.currentTarget.blur();
    } else if (event.key === "ArrowDown" || event.key === "Enter") {
      const first = event.currentTarget
        .closest("[data-threads]")
        ?.querySelector<HTMLElement>("[data-found], [data-thread]");
      if (event.key === "Enter" && isSearching) first?.click();
      else first?.focus();
    } else return;
    event.preventDefault();
  };
  return (
    <div className={styles.threads} data-threads>
      <div className={styles.head}>
        <IconButton
          label="Fold the list"
          title="Fold the list (\)"
          className={styles.fold}
          onClick={sidebar.hide}
        >
          <PanelLeftClose size={16} />
        </IconButton>
        <Heading className={styles.title}>
          Sessions
          {facets.data && !isSearching && (
            <span className={styles.total}>
              {count(facets.data.threads)}
              {!facets.data.complete && "+"}
            </span>
          )}
        </Heading>
        <div className={styles.search}>
          <Search size={14} aria-hidden className={styles.glass} />
          <input
            ref={field}
            type="search"
            className={styles.field}
            aria-label="Search sessions"
            placeholder="Search, such as: lamp tool:Bash"
            autoComplete="off"
            spellCheck={false}
            value={text}
            onFocus={() => void SearchResults.preload()}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={onKeyDown}
          />
          <SavedSearches
            className={styles.saved}
            search={text.trim() || !isEmpty(filters) ? { text, filters: filtersKey } : null}
            suggestion={[text.trim(), ...chips(filters).map((one) => one.text)].filter(Boolean).join(", ")}
            onOpen={(saved) =>
              setFilters({ ...readFilters(new URLSearchParams(saved.filters)), text: saved.text })
            }
          />
          {text ? (
            <IconButton label="Clear search" className={styles.clear} onClick={clear}>
              <X size={14} />
            </IconButton>
          ) : (
            <kbd className={styles.key} aria-hidden>
              /
            </kbd>
          )}
        </div>
        <FilterBar filters={filters} facets={facets.data} onChange={setFilters} hasSort={!isSearching} />
        <ImportBar status={progress} />
      </div>
      {isSearching ? (
        <SearchResults
          text={text}
          query={query}
          current={current}
          onClear={clear}
          onClearFilters={isEmpty(filters) ? null : () => setFilters(cleared(filters))}
        />
      ) : list.error && !rows.length ? (
        <Failure error={list.error} retry={() => void list.refetch()} />
      ) : list.isPending ? (
        <Loading />
      ) : rows.length ? (
        <ThreadList
          rows={rows}
          rowsKey={rowsKey}
          sort={rowsSort}
          headingLevel={Heading === "h1" ? 2 : 3}
          current={current}
          total={hasNextPage ? (facets.data?.threads ?? -1) : rows.length}
          hasMore={hasNextPage && !isFetchingNextPage}
          onMore={more}
          onChange={change}
          onRefresh={refresh}
        />
      ) : isEmpty(filters) ? (
        <NoThreads isImporting={progress?.state === "reading"} />
      ) : (
        <Empty title="No sessions match">
          <p>{plural(0, "session")} with these filters.</p>
          <Button small onClick={() => setFilters(cleared(filters))}>
            Clear filters
          </Button>
        </Empty>
      )}
    </div>
  );
}

function NoThreads({ isImporting }: { isImporting: boolean }) {
  if (isImporting) return <Empty title="Importing sessions">They appear here one by one.</Empty>;
  return (
    <Empty title="No sessions to list yet">
      <p>
        Import the sessions of the agents on this machine with <code>partita import</code>, or{" "}
        <a href={href(["new"])}>start a chat</a>.
      </p>
    </Empty>
  );
}
