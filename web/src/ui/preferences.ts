/** What the user has chosen for the look of the page, kept in this browser. */
import { useCallback, useSyncExternalStore } from "react";

/** Which messages of a session are shown: questions and final responses; the calls in groups; everything. */
export type Detail = "focused" | "normal" | "everything";

export interface Preferences {
  readonly theme: "system" | "light" | "dark";
  readonly density: "comfortable" | "compact";
  /** The width of text: lines that are easy to read, or the whole window. */
  readonly width: "text" | "full";
  readonly detail: Detail;
  /** Parts that are expanded at first. */
  readonly open: readonly ("reasoning" | "commands" | "edits" | "agents" | "other")[];
  /** The URL that opens a file in an editor, with `{path}`, `{line}` and `{column}`. Empty: no links. */
  readonly editor: string;
  /** The width of the list of sessions in pixels. */
  readonly sidebar: number;
  readonly sidebarFolded: boolean;
  /** The outline beside the messages. `auto`: open if the session has several questions. */
  readonly outline: "auto" | "open" | "closed";
  /** Whether Home explains what to try first, until there are own sessions. */
  readonly welcome: boolean;
}

const DEFAULTS: Preferences = {
  theme: "system",
  density: "comfortable",
  width: "text",
  detail: "normal",
  open: [],
  editor: "vscode://file/{path}:{line}:{column}",
  sidebar: 336,
  sidebarFolded: false,
  outline: "auto",
  welcome: true,
};

type Chosen = "theme" | "density" | "width" | "detail";

interface SettingOf<Name extends Chosen> {
  readonly name: Name;
  readonly label: string;
  readonly about: string;
  readonly choices: readonly { readonly value: Preferences[Name]; readonly label: string }[];
}

export type Setting = { readonly [Name in Chosen]: SettingOf<Name> }[Chosen];

/** The preferences with a list of choices. */
export const SETTINGS: readonly Setting[] = [
  {
    name: "theme",
    label: "Theme",
    about: "System follows your operating system.",
    choices: [
      { value: "system", label: "System" },
      { value: "light", label: "Light" },
      { value: "dark", label: "Dark" },
    ],
  },
  {
    name: "density",
    label: "Density",
    about: "The space between messages and rows.",
    choices: [
      { value: "comfortable", label: "Comfortable" },
      { value: "compact", label: "Compact" },
    ],
  },
  {
    name: "width",
    label: "Width of text",
    about: "Lines of a length that is easy to read, or the whole window.",
    choices: [
      { value: "text", label: "Readable lines" },
      { value: "full", label: "Full width" },
    ],
  },
  {
    name: "detail",
    label: "Level of detail",
    about:
      "Focused: questions and final responses. Normal: calls in groups. Everything: every call and event.",
    choices: [
      { value: "focused", label: "Focused" },
      { value: "normal", label: "Normal" },
      { value: "everything", label: "Everything" },
    ],
  },
];

/** Chooses the value of a setting. */
export const setSetting = (name: Setting["name"], value: string): void => setPreference(name, value as never); // one of its choices

const STORAGE = "partita.preferences";
const listeners = new Set<() => void>();
let current = load();

export const preferences = (): Preferences => current;

export const usePreferences = (): Preferences => useSyncExternalStore(subscribe, preferences);

/** A preference, and the function that changes it. */
export function usePreference<Name extends keyof Preferences>(
  name: Name,
): readonly [Preferences[Name], (value: Preferences[Name]) => void] {
  const value = useSyncExternalStore(subscribe, () => current[name]);
  const set = useCallback((next: Preferences[Name]) => setPreference(name, next), [name]);
  return [value, set];
}

export function setPreference<Name extends keyof Preferences>(name: Name, value: Preferences[Name]): void {
  save({ ...current, [name]: value });
}

/** Restores the defaults of everything that the settings show; the list of sessions keeps its width. */
export const resetPreferences = (): void =>
  save({ ...DEFAULTS, sidebar: current.sidebar, sidebarFolded: current.sidebarFolded });

function save(next: Preferences): void {
  current = next;
  const changed = Object.entries(current).filter(
    ([key, one]) => JSON.stringify(one) !== JSON.stringify(DEFAULTS[key as keyof Preferences]),
  );
  localStorage.setItem(STORAGE, JSON.stringify(Object.fromEntries(changed)));
  for (const listener of listeners) listener();
}

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

function load(): Preferences {
  let stored: unknown;
  try {
    stored = JSON.parse(localStorage.getItem(STORAGE) ?? "{}");
  } catch {
    stored = {}; // not written by this page, or a sandboxed file without storage
  }
  const known = Object.entries(Object(stored) as Record<string, unknown>).filter(([name, value]) =>
    isValid(name as keyof Preferences, value),
  );
  return { ...DEFAULTS, ...Object.fromEntries(known) };
}

function isValid(name: keyof Preferences, value: unknown): boolean {
  const setting = SETTINGS.find((one) => one.name === name);
  if (setting) return setting.choices.some((choice) => choice.value === value);
  const fallback = DEFAULTS[name];
  return (
    fallback !== undefined &&
    typeof value === typeof fallback &&
    Array.isArray(value) === Array.isArray(fallback)
  );
}

// Another tab has changed a preference.
if (typeof window !== "undefined")
  window.addEventListener("storage", ({ key }) => {
    if (key !== STORAGE) return;
    current = load();
    for (const listener of listeners) listener();
  });
