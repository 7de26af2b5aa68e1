/** The state of a call as a tone and a label, so that it does not depend on colour. */
import type { ToolCallPart, ToolView } from "../partita.gen";
import { visible } from "../ui/sanitize";
import { plainLine } from "./ansiText";
import { type OutputContent, textOf } from "./call";
import { isObject, member, stringify } from "./json";
import { withoutErrorTags } from "./tags";

export type Tone = "quiet" | "ok" | "busy" | "waiting" | "warn" | "bad";

export interface CallState {
  /** The state of the call, or `interrupted`. */
  readonly name: ToolCallPart["state"] | "interrupted";
  readonly tone: Tone;
  readonly label: string;
  /** The reason of an approval, a denial or an interruption. */
  readonly reason: string;
}

const INTERRUPTIONS: ReadonlyMap<string, string> = new Map([
  ["aborted", "Stopped"],
  ["timeout", "Timed out"],
  ["lost", "Lost, no result"],
]);

/**
 * The state of a call. Its output takes precedence over its `state`. `isAgentActive`: the agent is still working, so a
 * call without output is running. `isPending`: a client-side call without output.
 */
export function stateOf(call: ToolCallPart, isAgentActive: boolean, isPending = false): CallState {
  const state = (
    tone: Tone,
    label: string,
    reason?: string,
    name: CallState["name"] = call.state,
  ): CallState => ({ name, tone, label, reason: withoutErrorTags(reason ?? "") });
  const { output, approval } = call;
  const denied = () => {
    const why = output?.type === "execution-denied" ? output.reason : undefined;
    return state("bad", `Denied${by(call)}`, why ?? approval?.reason, "output-denied");
  };
  if (output?.type === "interrupted")
    return state("warn", INTERRUPTIONS.get(output.reason) ?? "Interrupted", output.message, "interrupted");
  if (output?.type === "execution-denied") return denied();
  if (output?.type === "error-text" || output?.type === "error-json")
    return state("bad", "Failed", undefined, "output-error");
  switch (call.state) {
    case "input-streaming":
      return isAgentActive ? state("busy", "Writing input") : state("warn", "Input incomplete");
    case "input-available":
      if (isPending) return state("waiting", "Waiting for you");
      return isAgentActive ? state("busy", "Running") : state("warn", "No result");
    case "approval-requested":
      return state("waiting", "Waiting for approval", approval?.requestReason);
    case "approval-responded":
      if (approval?.approved === false) return denied();
      return isAgentActive
        ? state("busy", `Approved${by(call)}, running`, approval?.reason)
        : state("warn", `Approved${by(call)}, no result`, approval?.reason);
    case "output-denied":
      return denied();
    case "output-error":
      return state("bad", "Failed");
    case "output-available":
      if (call.preliminary)
        return isAgentActive
          ? state("busy", "Running, partial output")
          : state("warn", "Partial output only");
      return state("ok", "Done", approval?.approved ? approval.reason : undefined);
  }
}

const MAX_REASON = 240;

/** Why a call failed or ended early, on one line; empty if that is unknown. */
export function reasonOf(
  part: ToolCallPart,
  view: ToolView | undefined,
  state: CallState,
  { text, value }: OutputContent,
): string {
  if (state.tone !== "bad" && state.tone !== "warn") return "";
  if (state.reason) return oneLine(state.reason);
  if (part.output?.type === "error-json") return oneLine(messageIn(value));
  if (view?.kind !== "command") return state.tone === "bad" ? oneLine(text) : "";
  // The last line of a command says most: the exception, the number of failed tests.
  const printed = textOf(part, view.errors) || textOf(part, view.output);
  const last = printed.trimEnd().split("\n").at(-1) ?? "";
  return oneLine(visible(plainLine(last.slice(0, 4 * MAX_REASON))));
}

const oneLine = (text: string): string =>
  withoutErrorTags(text.slice(0, 8 * MAX_REASON))
    .trim()
    .split("\n", 1)[0]
    ?.slice(0, MAX_REASON) ?? "";

function messageIn(value: unknown): string {
  if (!isObject(value)) return stringify(value);
  const found = ["message", "error", "detail"].map((name) => member(value, name));
  const text = found.find((one) => typeof one === "string");
  if (typeof text === "string") return text;
  const inner = found.find(isObject);
  return inner ? messageIn(inner) : stringify(value);
}

function by(call: ToolCallPart): string {
  if (call.approval?.isAutomatic) return " automatically";
  return call.approval?.respondedBy ? ` by ${call.approval.respondedBy}` : "";
}

/** Further facts about a call. */
export function notesOf(call: ToolCallPart): string[] {
  const isApproved =
    call.approval?.approved === true && call.state !== "approval-responded" && !call.approval.isAutomatic;
  return [
    ...(isApproved ? [`approved${by(call)}`] : []),
    ...(call.providerExecuted ? ["run by the provider"] : []),
    ...(call.unavailable ? ["tool no longer available"] : []),
  ];
}
