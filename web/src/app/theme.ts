/** The colour theme: that of the system unless the user selects one. */
import { useSyncExternalStore } from "react";

type Theme = "system" | "light" | "dark";

const NAME = "partita.theme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

export function theme(): Theme {
  const stored = localStorage.getItem(NAME);
  return stored === "light" || stored === "dark" ? stored : "system";
}

export function applyTheme(): void {
  const chosen = theme();
  document.documentElement.dataset.theme = chosen === "system" ? (dark.matches ? "dark" : "light") : chosen;
}

export function setTheme(chosen: Theme): void {
  localStorage.setItem(NAME, chosen);
  applyTheme();
  for (const listener of listeners) listener();
}

dark.addEventListener("change", applyTheme);

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, theme);
