/** Several selected sessions. */
import { useCallback, useMemo, useRef, useState } from "react";
import type { ThreadSummary } from "../api/threads";

export interface Selection {
  /** The selected rows, in the order of the list. */
  readonly rows: readonly ThreadSummary[];
  readonly has: (id: string) => boolean;
  readonly toggle: (id: string) => void;
  /** Selects everything from the row that was selected last to this one. */
  readonly extend: (id: string, from?: string | null) => void;
  readonly all: () => void;
  readonly clear: () => void;
}

const NONE: ReadonlySet<string> = new Set();

export function useSelection(rows: readonly ThreadSummary[]): Selection {
  const [ids, setIds] = useState(NONE);
  const last = useRef<string | null>(null);
  const selected = useMemo(
    () => (ids.size ? rows.filter(({ thread }) => ids.has(thread.id)) : []),
    [rows, ids],
  );
  const toggle = useCallback((id: string) => {
    last.current = id;
    setIds((was) => {
      const next = new Set(was);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);
  const extend = useCallback(
    (id: string, from?: string | null) => {
      const order = rows.map(({ thread }) => thread.id);
      const end = order.indexOf(id);
      const start = order.indexOf(last.current ?? from ?? id);
      last.current ??= from ?? id;
      const range = order.slice(Math.min(start < 0 ? end : start, end), Math.max(start, end) + 1);
      setIds((was) => new Set([...was, ...range]));
    },
    [rows],
  );
  const all = useCallback(() => setIds(new Set(rows.map(({ thread }) => thread.id))), [rows]);
  const clear = useCallback(() => {
    last.current = null;
    setIds(NONE);
  }, []);
  return useMemo(
    () => ({ rows: selected, has: (id) => ids.has(id), toggle, extend, all, clear }),
    [selected, ids, toggle, extend, all, clear],
  );
}
