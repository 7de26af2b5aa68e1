import { type AgentInfo, isAvailable } from "../api/agents";
import styles from "./AgentPicker.module.css";

interface Props {
  readonly agents: readonly AgentInfo[];
  readonly value: string | undefined;
  readonly onChange: (name: string) => void;
  readonly disabled?: boolean;
}

/** Selects an agent. Unavailable agents are disabled, with what is missing. */
export function AgentPicker({ agents, value, onChange, disabled }: Props) {
  return (
    <select
      className={styles.picker}
      aria-label="Agent"
      title="Agent that receives the message"
      value={value ?? ""}
      disabled={disabled}
      onChange={(event) => onChange(event.target.value)}
    >
      {value === undefined && <option value="">no agent</option>}
      {agents.map((agent) => (
        <option key={agent.name} value={agent.name} disabled={!isAvailable(agent)}>
          {isAvailable(agent) ? agent.name : `${agent.name} (${agent.missing ?? "not available"})`}
        </option>
      ))}
    </select>
  );
}
