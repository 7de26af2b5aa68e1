import { GitFork } from "lucide-react";
import { useState } from "react";
import { type AgentInfo, isAvailable, useAgents } from "../api/agents";
import { forkThread } from "../api/threads";
import type { Thread } from "../partita.gen";
import { Button } from "../ui/Button";
import { go, toThread } from "../ui/routing";
import { visible } from "../ui/sanitize";
import { toastError } from "../ui/Toasts";
import { AgentPicker } from "./AgentPicker";
import { agentFor, blockedReason, rememberAgent } from "./agentChoice";
import { setComposerStart } from "./composerStart";
import styles from "./ForkAndContinue.module.css";

interface Props {
  readonly thread: Thread;
  readonly agents: readonly AgentInfo[];
  /** Why messages cannot be sent in the thread. */
  readonly reason: string;
}

/** Replaces the composer of a read-only thread: forks the thread to continue the copy. */
export function ForkAndContinue({ thread, agents, reason }: Props) {
  const [chosen, setChosen] = useState<string>();
  const agent = chosen ?? agentFor(thread, agents);
  const last = thread.activeLeafId;
  const fork = async () => {
    if (!last || !agent) return;
    const copy = await forkThread(thread.id, last, thread.title);
    rememberAgent(copy.id, agent);
    setComposerStart(copy.id);
    go(toThread(copy.id));
  };
  return (
    <div className={styles.bar}>
      <p className={styles.reason}>{visible(reason)}</p>
      {last && agent && (
        <div className={styles.offer}>
          <Button icon={<GitFork size={15} aria-hidden />} onClick={() => void fork().catch(toastError)}>
            Fork and continue with
          </Button>
          <AgentPicker agents={agents.filter(isAvailable)} value={agent} onChange={setChosen} />
        </div>
      )}
    </div>
  );
}

/** In place of the composer of an imported thread. */
export function ImportedThread({ thread }: { thread: Thread }) {
  const { data: agents } = useAgents();
  const reason = agents && blockedReason(thread, agents);
  return reason ? <ForkAndContinue thread={thread} agents={agents} reason={reason} /> : null;
}
