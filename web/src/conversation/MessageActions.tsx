import { GitFork, Pencil, Play, RefreshCw } from "lucide-react";
import type { Message } from "../partita.gen";
import { IconButton } from "../ui/Button";
import { go, toRun } from "../ui/routing";

/** What a conversation can do with its messages. The object stays the same while it is open. */
export interface Actions {
  /** Whether something new can be said in this session. */
  readonly canSpeak: boolean;
  readonly fork: (messageId: string) => void;
  readonly chooseBranch: (messageId: string) => void;
  readonly regenerate: (messageId: string) => void;
  readonly edit: (messageId: string) => void;
}

interface Props {
  readonly message: Message;
  readonly actions: Actions;
}

/** What can be done with a stored message of a conversation, beside what can be done with any. */
export function MessageActions({ message: { id, role, runId, type }, actions }: Props) {
  return (
    <>
      {runId && role === "assistant" && (
        <IconButton label="Replay the run" onClick={() => go(toRun(runId))}>
          <Play size={14} aria-hidden />
        </IconButton>
      )}
      <IconButton label="Fork from here" onClick={() => actions.fork(id)}>
        <GitFork size={14} aria-hidden />
      </IconButton>
      {actions.canSpeak && role === "user" && type !== "event" && (
        <IconButton label="Edit and ask again" onClick={() => actions.edit(id)}>
          <Pencil size={14} aria-hidden />
        </IconButton>
      )}
      {actions.canSpeak && role === "assistant" && type !== "event" && (
        <IconButton label="Answer again" onClick={() => actions.regenerate(id)}>
          <RefreshCw size={14} aria-hidden />
        </IconButton>
      )}
    </>
  );
}
