/** Keys that do something anywhere on the page, but not while somebody writes. */
import { useEffect, useRef } from "react";

export interface Hotkey {
  /** `/`, `j`, `?`, `Escape`, `mod+k`; two in a row: `g a`. */
  readonly keys: string;
  readonly what: string;
  readonly run: (event: KeyboardEvent) => void;
  /** Also while somebody writes. */
  readonly always?: boolean;
  /** Asked before all others: it is there only while it is meant. */
  readonly first?: boolean;
}

const active = new Set<readonly Hotkey[]>();
let first: { key: string; at: number } | null = null;

/** All keys that do something now, for the help. */
export const activeHotkeys = (): readonly Hotkey[] => [...active].flat();

export function useHotkeys(hotkeys: readonly Hotkey[], on = true): void {
  const now = useRef(hotkeys);
  now.current = hotkeys;
  useEffect(() => {
    if (!on) return;
    // The functions are looked up when a key is pressed: they may have changed since.
    const bound = now.current.map((one, index) => ({
      ...one,
      run: (event: KeyboardEvent) => now.current[index]?.run(event),
    }));
    active.add(bound);
    return () => {
      active.delete(bound);
    };
  }, [on]);
}

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

function pressed(event: KeyboardEvent): string {
  const mod = event.metaKey || event.ctrlKey ? "mod+" : "";
  return `${mod}${event.key.length === 1 && !event.shiftKey ? event.key.toLowerCase() : event.key}`;
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey) return;
  const key = pressed(event);
  const pair = first && Date.now() - first.at < 1000 ? `${first.key} ${key}` : null;
  first = { key, at: Date.now() };
  const writing = isWriting(event.target) || document.querySelector("dialog:modal") !== null;
  const all = activeHotkeys().filter((one) => one.always || !writing);
  // Who was added last is asked first: a view comes after the page around it.
  const find = (keys: string | null) =>
    all.findLast((one) => one.first && one.keys === keys) ?? all.findLast((one) => one.keys === keys);
  const chosen = find(pair) ?? find(key);
  if (!chosen) return;
  event.preventDefault();
  chosen.run(event);
}

if (typeof window !== "undefined") window.addEventListener("keydown", onKey);
