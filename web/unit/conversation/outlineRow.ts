import type { OutlineRow } from "../../src/api/messages";

/** A row of an outline: a text of the user, unless told otherwise. */
export const outlineRow = (id: string, more: Partial<OutlineRow> = {}): OutlineRow => ({
  id,
  seq: 1,
  role: "user",
  type: "text",
  createdAt: "2026-03-01T12:00:00Z",
  size: 10,
  version: 1,
  internal: false,
  hasErrors: false,
  reasoning: false,
  calls: null,
  failed: 0,
  start: 0,
  end: null,
  before: 0,
  inside: 0,
  endedAt: null,
  tokens: 0,
  cost: null,
  ...more,
});
