/** Labels of models, agents, projects and tools. Names are untrusted: hidden characters are made visible. */
import type { Split } from "../api/analytics";
import { visible } from "../ui/sanitize";

const MISSING: Record<Split | "tool", string> = {
  model: "No model",
  agent: "No agent",
  project: "No project",
  tool: "No name",
};

export const labelOf = (kind: Split | "tool", key: string | null | undefined): string =>
  key ? visible(key) : MISSING[kind];

export const titleOf = (thread: { readonly title?: string; readonly id: string }): string =>
  visible(thread.title?.trim() || thread.id);

/** 12%, <1%; 0% if the whole is 0. */
export function share(part: number, whole: number): string {
  const percent = whole > 0 ? (part / whole) * 100 : 0;
  return percent > 0 && percent < 1 ? "<1%" : `${Math.round(percent)}%`;
}
