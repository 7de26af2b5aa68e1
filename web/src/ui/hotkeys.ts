/** Keyboard shortcuts. They work anywhere on the page except in a text field. */
import { useEffect, useRef } from "react";

interface Hotkey {
  /** `/`, `j`, `?`, `Escape`, `mod+k`; two in a row: `g a`. */
  readonly keys: string;
  readonly what: string;
  readonly run: (event: KeyboardEvent) => void;
  /** Active in text fields, too. */
  readonly always?: boolean;
  /** Takes precedence over all others. */
  readonly first?: boolean;
}

const active = new Set<readonly Hotkey[]>();
let previous: { key: string; time: number } | null = null;

/** All shortcuts that are active now, for the help dialog. */
export const activeHotkeys = (): readonly Hotkey[] => [...active].flat();

export function useHotkeys(hotkeys: readonly Hotkey[], enabled = true): void {
  const now = useRef(hotkeys);
  now.current = hotkeys;
  useEffect(() => {
    if (!enabled) return;
    // The functions are looked up when a key is pressed: a later render may have replaced them.
    const bound = now.current.map((one, index) => ({
      ...one,
      run: (event: KeyboardEvent) => now.current[index]?.run(event),
    }));
    active.add(bound);
    return () => {
      active.delete(bound);
    };
  }, [enabled]);
}

const isTextField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

function pressed(event: KeyboardEvent): string {
  const mod = event.metaKey || event.ctrlKey ? "mod+" : "";
  return `${mod}${event.key.length === 1 && !event.shiftKey ? event.key.toLowerCase() : event.key}`;
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey) return;
  const key = pressed(event);
  const pair = previous && Date.now() - previous.time < 1000 ? `${previous.key} ${key}` : null;
  previous = { key, time: Date.now() };
  const isTyping = isTextField(event.target) || document.querySelector("dialog:modal") !== null;
  const all = activeHotkeys().filter((one) => one.always || !isTyping);
  // The shortcut that was added last wins: a view mounts after the page around it.
  const find = (keys: string | null) =>
    all.findLast((one) => one.first && one.keys === keys) ?? all.findLast((one) => one.keys === keys);
  const chosen = find(pair) ?? find(key);
  if (!chosen) return;
  event.preventDefault();
  chosen.run(event);
}

if (typeof window !== "undefined") window.addEventListener("keydown", onKey);
