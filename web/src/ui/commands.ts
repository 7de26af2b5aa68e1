/**
 * Commands: what the user can do now, by a key or in the command palette. Keys work anywhere on the page except in a
 * text field. Each key has one meaning; a single letter never deletes anything.
 */
import { useEffect, useRef } from "react";

/** The groups of the list of shortcuts, in its order. */
export const GROUPS = ["Go to", "Sessions", "Session", "Chat", "Replay", "Compare", "Page"] as const;

export interface Command {
  /** What it does: `Next question`. */
  readonly what: string;
  readonly group: (typeof GROUPS)[number];
  /** `/`, `j`, `?`, `Escape`, `mod+k`; two in a row: `g a`. Without keys, it is only in the palette. */
  readonly keys?: string;
  readonly run: (event?: KeyboardEvent) => void;
  /** Active in text fields, too. */
  readonly always?: boolean;
  /** Not in the palette: it needs the keyboard, or is of no use there. */
  readonly keysOnly?: boolean;
}

const active = new Set<readonly Command[]>();
let previous: { key: string; time: number } | null = null;

/** All commands that are active now. */
export const activeCommands = (): readonly Command[] => [...active].flat();

export function useCommands(commands: readonly Command[], enabled = true): void {
  const now = useRef(commands);
  now.current = commands;
  const names = commands.map(({ what, keys }) => `${what}\n${keys}`).join("\n\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: other commands are bound again
  useEffect(() => {
    if (!enabled) return;
    // The functions are looked up when a command is run: a later render may have replaced them.
    const bound = now.current.map((one, index) => ({
      ...one,
      run: (event?: KeyboardEvent) => now.current[index]?.run(event),
    }));
    active.add(bound);
    return () => {
      active.delete(bound);
    };
  }, [enabled, names]);
}

/** Whether the key belongs to an input method editor: there, Enter accepts the composed word. */
export const isComposing = (event: { readonly nativeEvent: KeyboardEvent }): boolean =>
  event.nativeEvent.isComposing || event.nativeEvent.keyCode === 229;

const isTextField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

function pressed(event: KeyboardEvent): string {
  const mod = event.metaKey || event.ctrlKey ? "mod+" : "";
  const letter = event.key.length === 1 && !event.shiftKey; // Caps Lock is not Shift
  return `${mod}${letter ? event.key.toLowerCase() : event.key}`;
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey || event.isComposing) return;
  const key = pressed(event);
  const pair = previous && Date.now() - previous.time < 1000 ? `${previous.key} ${key}` : null;
  previous = { key, time: Date.now() };
  const isTyping = isTextField(event.target) || document.querySelector("dialog:modal") !== null;
  const all = activeCommands().filter((one) => one.always || !isTyping);
  // The command that was added last wins: a view mounts after the page around it.
  const find = (keys: string | null) => all.findLast((one) => one.keys !== undefined && one.keys === keys);
  const chosen = find(pair) ?? find(key);
  if (!chosen) return;
  event.preventDefault();
  chosen.run(event);
}

if (typeof window !== "undefined") window.addEventListener("keydown", onKey);
