/** The state of a call as a tone and a label, so that it does not depend on colour. */
import type { ToolCallPart } from "../partita.gen";

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
 * The state of a call. Its output takes precedence over its `state`. `isPending`: a client-side call without output.
 */
export function stateOf(call: ToolCallPart, live: boolean, isPending = false): CallState {
  const state = (
    tone: Tone,
    label: string,
    reason?: string,
    name: CallState["name"] = call.state,
  ): CallState => ({ name, tone, label, reason: reason ?? "" });
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
      return live ? state("busy", "Writing input") : state("warn", "Input incomplete");
    case "input-available":
      if (isPending) return state("waiting", "Waiting for you");
      return live ? state("busy", "Running") : state("warn", "No result");
    case "approval-requested":
      return state("waiting", "Waiting for approval", approval?.requestReason);
    case "approval-responded":
      if (approval?.approved === false) return denied();
      return live
        ? state("busy", `Approved${by(call)}, running`, approval?.reason)
        : state("warn", `Approved${by(call)}, no result`, approval?.reason);
    case "output-denied":
      return denied();
    case "output-error":
      return state("bad", "Failed");
    case "output-available":
      if (call.preliminary)
        return live ? state("busy", "Running, partial output") : state("warn", "Partial output only");
      return state("ok", "Done", approval?.approved ? approval.reason : undefined);
  }
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
