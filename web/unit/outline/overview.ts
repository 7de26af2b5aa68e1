/** Overviews for tests. */
import type { OverviewCall, OverviewTurn, ThreadOverview } from "../../src/partita.gen";

export const callAt = (messageId: string, part: string, more: Partial<OverviewCall> = {}): OverviewCall => ({
  messageId,
  part,
  kind: "other",
  title: "",
  subject: "",
  state: "done",
  startedAt: null,
  endedAt: null,
  added: 0,
  removed: 0,
  inputTokens: null,
  outputTokens: null,
  cost: null,
  ...more,
});

export const turnAt = (messageId: string, calls: number, more: Partial<OverviewTurn> = {}): OverviewTurn => ({
  messageId,
  title: messageId,
  answerId: null,
  startedAt: null,
  endedAt: null,
  seconds: 0,
  responses: 1,
  calls,
  failed: 0,
  edits: 0,
  inputTokens: 0,
  outputTokens: 0,
  cost: null,
  running: false,
  ...more,
});

export const overviewOf = (more: Partial<ThreadOverview>): ThreadOverview => ({
  startedAt: null,
  endedAt: null,
  seconds: 0,
  turns: [],
  calls: [],
  files: [],
  commits: [],
  pullRequests: [],
  branch: null,
  branchUrl: null,
  repositoryUrl: null,
  commands: 0,
  failed: 0,
  agents: 0,
  inputTokens: 0,
  outputTokens: 0,
  cost: null,
  resume: null,
  ...more,
});
