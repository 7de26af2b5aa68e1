import { GitFork, Pencil, Play, RefreshCw } from "lucide-react";
import type { Message } from "../partita.gen";
import { IconButton } from "../ui/Button";
import { go, toRun } from "../ui/routing";

/** The actions of a conversation on its messages. The object is stable while the conversation is open. */
export interface Actions {
  /** New messages can be sent in this session. */
  readonly canWrite: boolean;
  readonly fork: (messageId: string) => void;
  readonly chooseBranch: (messageId: string) => void;
  readonly regenerate: (messageId: string) => void;
  readonly edit: (messageId: string) => void;
}

interface Props {
  readonly message: Message;
  readonly actions: Actions;
}

/** The buttons that only stored messages of a conversation have. */
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
      {actions.canWrite && role === "user" && type !== "event" && (
        <IconButton label="Edit and ask again" data-action="edit" onClick={() => actions.edit(id)}>
          <Pencil size={14} aria-hidden />
        </IconButton>
      )}
      {actions.canWrite && role === "assistant" && type !== "event" && (
        <IconButton label="Regenerate response" onClick={() => actions.regenerate(id)}>
          <RefreshCw size={14} aria-hidden />
        </IconButton>
      )}
    </>
  );
}
