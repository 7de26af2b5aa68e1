import { MessageSquare } from "lucide-react";
import styles from "./AgentMark.module.css";

interface Known {
  readonly name: string;
  readonly letters: string;
}

/** The names that agents use of themselves, by the name in the store. */
const AGENTS: Readonly<Record<string, Known>> = {
  "claude-code": { name: "Claude Code", letters: "CC" },
  codex: { name: "Codex", letters: "Cx" },
  "gemini-cli": { name: "Gemini CLI", letters: "G" },
  opencode: { name: "OpenCode", letters: "OC" },
  copilot: { name: "Copilot", letters: "Co" },
  cursor: { name: "Cursor", letters: "Cu" },
};

/** Colours for other agents, chosen by their name. */
const OTHERS = 6;

/** The display name of an agent. */
export const agentName = (agent: string | null | undefined): string =>
  agent ? (AGENTS[agent]?.name ?? agent) : "Chat";

/** A small mark of an agent: its letters on its colour, with its name for assistive technology. */
export function AgentMark({ agent, size = 18 }: { agent: string | null | undefined; size?: number }) {
  const known = agent ? AGENTS[agent] : undefined;
  const name = agentName(agent);
  return (
    <span
      role="img"
      aria-label={name}
      title={name}
      className={styles.mark}
      data-agent={known ? agent : undefined}
      data-other={agent && !known ? numberOf(agent) : undefined}
      style={{ width: size, height: size, fontSize: size * 0.5 }}
    >
      {agent ? (
        <span aria-hidden>{known?.letters ?? lettersOf(agent)}</span>
      ) : (
        <MessageSquare size={Math.round(size * 0.6)} aria-hidden />
      )}
    </span>
  );
}

/** The initials of two words, or the first two letters. */
export function lettersOf(agent: string): string {
  const [first = "?", second] = agent.match(/[\p{L}\p{N}]+/gu) ?? [];
  const [one = "", two = ""] = Array.from(first);
  return one.toUpperCase() + (second ? (Array.from(second)[0] ?? "").toUpperCase() : two);
}

function numberOf(agent: string): number {
  let sum = 0;
  for (const character of agent) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 9973;
  return sum % OTHERS;
}
