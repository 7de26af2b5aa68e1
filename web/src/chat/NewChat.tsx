import { useState } from "react";
import { type AgentInfo, createThread, isAvailable, useAgents } from "../api/agents";
import { go, toThread } from "../ui/routing";
import { Failure, Loading } from "../ui/States";
import { toastError } from "../ui/Toasts";
import { Composer, type Speaking } from "./Composer";
import type { Sending } from "./live";
import styles from "./NewChat.module.css";
import { sendLater } from "./pending";

/** What one may say to the demo agents: each shows something else. */
const SUGGESTIONS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  demo: [
    ["What is the weather?", "a tool is called"],
    ["Approve a postcard", "a tool asks first"],
    ["Ask the team", "sub-agents, two deep"],
    ["Edit the lamp", "a coding turn"],
    ["Show me markdown", "table, code, formula, diagram"],
    ["Think about the horizon", "reasoning, and a source"],
    ["Ask the client", "a tool that this page runs"],
    ["Tell a long story", "to stop or to resume"],
  ],
  "demo-network": [["When shall we sail?", "a router hands work to others"]],
};

const LONGEST_TITLE = 80;

/** A calm start: who is asked, and what. */
export function NewChat() {
  const { data: agents, error, refetch } = useAgents();
  const [chosen, setChosen] = useState<string>();
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!agents) return <Loading />;
  const agent = agents.find((one) => one.name === chosen) ?? agents.find(isAvailable);
  const begin = async (what: Sending) => {
    const thread = await createThread(titleOf(what), agent?.name);
    sendLater(thread.id, { ...what, agent: agent?.name });
    go(toThread(thread.id));
  };
  return (
    <div className={styles.view}>
      <div className={styles.middle}>
        <h1 className={styles.title}>New chat</h1>
        <Agents agents={agents.filter(isAvailable)} chosen={agent?.name} onChoose={setChosen} />
        <Suggestions agent={agent} onSay={(text) => void begin({ text }).catch(toastError)} />
        <Missing agents={agents.filter((one) => !isAvailable(one))} />
      </div>
      <Composer live={speakingTo(begin)} agent={agent?.name} autoFocus />
    </div>
  );
}

const titleOf = ({ text, files = [] }: Sending): string => {
  const words = text.split(/\s+/).join(" ").trim() || (files[0]?.filename ?? "New chat");
  return words.length > LONGEST_TITLE ? `${words.slice(0, LONGEST_TITLE - 1)}…` : words;
};

const speakingTo = (send: Speaking["send"]): Speaking => ({
  busy: false,
  status: "idle",
  error: null,
  send,
  stop: () => Promise.resolve(),
});

interface AgentsProps {
  readonly agents: readonly AgentInfo[];
  readonly chosen: string | undefined;
  readonly onChoose: (name: string) => void;
}

function Agents({ agents, chosen, onChoose }: AgentsProps) {
  return (
    <fieldset className={styles.agents}>
      <legend className="visually-hidden">Agent</legend>
      {agents.map((agent) => (
        <label key={agent.name} className={styles.agent}>
          <input
            type="radio"
            name="agent"
            className={styles.radio}
            value={agent.name}
            checked={agent.name === chosen}
            onChange={() => onChoose(agent.name)}
          />
          <span className={styles.name}>{agent.name}</span>
          {agent.model && agent.model !== "scripted" && <span className={styles.model}>{agent.model}</span>}
          <span className={styles.about}>{agent.description}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Suggestions({ agent, onSay }: { agent?: AgentInfo; onSay: (text: string) => void }) {
  const found = agent && Object.hasOwn(SUGGESTIONS, agent.name) ? SUGGESTIONS[agent.name] : undefined;
  if (!found) return null;
  return (
    <ul className={styles.suggestions} aria-label="Suggestions">
      {found.map(([text, what]) => (
        <li key={text}>
          <button type="button" className={styles.suggestion} onClick={() => onSay(text)}>
            <span>{text}</span>
            <span className={styles.what}>{what}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Agents that are known, and cannot be asked yet. */
function Missing({ agents }: { agents: readonly AgentInfo[] }) {
  if (!agents.length) return null;
  return (
    <section className={styles.missing} aria-label="Not set up yet">
      <h2 className={styles.subtitle}>Not set up yet</h2>
      <ul className={styles.list}>
        {agents.map((agent) => (
          <li key={agent.name} className={styles.greyed} title={agent.description}>
            <span>{agent.name}</span>
            <code>{agent.missing}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}
