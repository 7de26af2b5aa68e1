/** The sessions of the command palette. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
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
  /** The recent sessions, and those with a title that matches. */
  readonly titled: readonly PaletteEntry[];
  /** Sessions whose messages match, newest first. */
  readonly found: readonly PaletteEntry[];
}

export function useSessionEntries(text: string): Sessions {
  const [opened] = useState(() => ({ now: Date.now(), current: parsePlace(location.hash).path[1] }));
  const words = useSettled(text.trim());
  const recent = useQuery({
    queryKey: ["palette"],
    queryFn: ({ signal }) => listSummaries({ limit: RECENT }, signal),
  });
  const find = (text: string) => ({
    queryKey: ["palette", text],
    queryFn: ({ signal }: { signal: AbortSignal }) => listSummaries({ limit: FOUND, text }, signal),
    enabled: isSearchable(text),
  });
  const titled = useQuery({ ...find(titleQuery(words)), placeholderData: keepPreviousData }); // ranked in the browser
  const found = useQuery(find(words));
  return useMemo(() => {
    const entries = (rows: readonly ThreadSummary[] = [], of?: string) =>
      rows
        .filter(({ thread }) => thread.id !== opened.current)
        .map((row) => sessionEntry(row, opened.now, of));
    const isCurrent = words !== "" && words === text.trim();
    const known = new Map(
      [...(recent.data?.items ?? []), ...(titled.data?.items ?? [])].map((row) => [row.thread.id, row]),
    );
    return {
      titled: entries([...known.values()]),
      found: isCurrent ? entries(found.data?.items, words) : [],
    };
  }, [recent.data, titled.data, found.data, words, text, opened]);
}

/** The query for titles with words that start like these; empty for other text than words. */
const titleQuery = (text: string): string => {
  const words = text.split(/\s+/);
  return words.every((word) => /^[\p{L}\p{N}]+$/u.test(word))
    ? words.map((word) => `title:${word}*`).join(" ")
    : "";
};

/** The text once the user has not typed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
