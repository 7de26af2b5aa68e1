/** The sessions of the command palette. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { isSearchable } from "../api/search";
import { listSummaries, type ThreadSummary } from "../api/threads";
import { parsePlace } from "../ui/routing";
import { type PaletteEntry, sessionEntry } from "./entries";

/** How many recent sessions are ranked in the browser, and how many the server finds. */
const RECENT = 100;
const FOUND = 8;
/** Milliseconds without a key before the server is asked. */
const TYPING_PAUSE = 120;

interface Sessions {
  /** The recent sessions, newest first. */
  readonly recent: readonly PaletteEntry[];
  /** Sessions whose title or messages match, newest first. */
  readonly found: readonly PaletteEntry[];
}

export function useSessionEntries(text: string): Sessions {
  const [opened] = useState(() => ({ now: Date.now(), current: parsePlace(location.hash).path[1] }));
  const words = useSettled(text.trim());
  const recent = useQuery({
    queryKey: ["palette"],
    queryFn: ({ signal }) => listSummaries({ limit: RECENT }, signal),
  });
  const found = useQuery({
    queryKey: ["palette", words],
    queryFn: ({ signal }) => listSummaries({ limit: FOUND, text: words }, signal),
    enabled: isSearchable(words),
  });
  return useMemo(() => {
    const entries = (rows: readonly ThreadSummary[] = [], of?: string) =>
      rows
        .filter(({ thread }) => thread.id !== opened.current)
        .map((row) => sessionEntry(row, opened.now, of));
    const isCurrent = words !== "" && words === text.trim();
    return { recent: entries(recent.data?.items), found: isCurrent ? entries(found.data?.items, words) : [] };
  }, [recent.data, found.data, words, text, opened]);
}

/** The text once the user has not typed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
