import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type AgentInfo, createThread, isAvailable, useAgents } from "../api/agents";
import { go, toThread } from "../ui/routing";
import { Failure, Loading } from "../ui/States";
import { toastError } from "../ui/Toasts";
import { useTitle } from "../ui/useTitle";
import { Composer, type ComposerActions } from "./Composer";
import { setComposerStart } from "./composerStart";
import type { OutgoingMessage } from "./live";
import styles from "./NewChat.module.css";

/** Example questions for the demo agents. */
const SUGGESTIONS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  demo: [
    ["What is the weather?", "a tool call"],
    ["Approve a postcard", "a tool that needs approval"],
    ["Ask the team", "sub-agents, two levels"],
    ["Edit the lamp", "a coding turn"],
    ["Show me markdown", "table, code, formula, diagram"],
    ["Think about the horizon", "reasoning, and a source"],
    ["Ask the client", "a client-side tool"],
    ["Tell a long story", "stop it or resume it"],
  ],
  "demo-network": [["When shall we sail?", "a router delegates to agents"]],
};

const MAX_TITLE_LENGTH = 80;

interface Props {
  /** Loads the view of a session: its composer takes over while the user types on. */
  readonly prepare: () => Promise<void>;
}

/** The start of a new chat: agents, example questions and the composer. */
export function NewChat({ prepare }: Props) {
  useTitle("New chat");
  const queries = useQueryClient();
  const { data: agents, error, refetch } = useAgents();
  const [chosen, setChosen] = useState<string>();
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!agents) return <Loading />;
  const agent = agents.find((one) => one.name === chosen) ?? agents.find(isAvailable);
  const start = async (message: OutgoingMessage) => {
    const [thread] = await Promise.all([createThread(titleOf(message), agent?.name), prepare()]);
    queries.setQueryData(["thread", thread.id], thread); // its composer is there at once
    setComposerStart(thread.id, { message: { ...message, agent: agent?.name } });
    go(toThread(thread.id));
  };
  return (
    <div className={styles.view}>
      <div className={styles.middle}>
        <h1 className={styles.title}>New chat</h1>
        <Agents agents={agents.filter(isAvailable)} chosen={agent?.name} onChoose={setChosen} />
        <Suggestions agent={agent} onSelect={(text) => void start({ text }).catch(toastError)} />
        <UnavailableAgents agents={agents.filter((one) => !isAvailable(one))} />
      </div>
      <Composer live={composerActions(start)} agent={agent?.name} autoFocus />
    </div>
  );
}

const titleOf = ({ text, files = [] }: OutgoingMessage): string => {
  const title = text.split(/\s+/).join(" ").trim() || (files[0]?.filename ?? "New chat");
  return title.length > MAX_TITLE_LENGTH ? `${title.slice(0, MAX_TITLE_LENGTH - 1)}…` : title;
};

const composerActions = (send: ComposerActions["send"]): ComposerActions => ({
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

function Suggestions({ agent, onSelect }: { agent?: AgentInfo; onSelect: (text: string) => void }) {
  const found = agent && Object.hasOwn(SUGGESTIONS, agent.name) ? SUGGESTIONS[agent.name] : undefined;
  if (!found) return null;
  return (
    <ul className={styles.suggestions} aria-label="Suggestions">
      {found.map(([text, what]) => (
        <li key={text}>
          <button type="button" className={styles.suggestion} onClick={() => onSelect(text)}>
            <span>{text}</span>
            <span className={styles.what}>{what}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Agents whose key or program is missing. */
function UnavailableAgents({ agents }: { agents: readonly AgentInfo[] }) {
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
