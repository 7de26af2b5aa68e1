import { Bot, Braces, Link2, type LucideIcon, Settings2, User, Wrench } from "lucide-react";
import type { ReactNode } from "react";
import { headingTag } from "../markdown/level";
import type { AssistantMessage, Message } from "../partita.gen";
import { IconButton } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { ago, count, moment, money } from "../ui/format";
import { visible } from "../ui/hostile";
import { type PartPlace, useViewing } from "../viewing/viewing";
import styles from "./MessageHead.module.css";
import { messageAsMarkdown } from "./plain";
import { usageOf } from "./StepMark";

const SPEAKERS: Readonly<Record<Message["role"], { name: string; icon: LucideIcon }>> = {
  user: { name: "User", icon: User },
  assistant: { name: "Assistant", icon: Bot },
  system: { name: "System", icon: Settings2 },
  tool: { name: "Tool", icon: Wrench },
};

interface Props {
  readonly id: string;
  readonly message: Message;
  readonly place: PartPlace;
  readonly level: number;
  readonly actions?: ReactNode;
}

/** Who speaks, when, with which model, at what cost; and what can be done with it. */
export function MessageHead({ id, message, place, level, actions }: Props) {
  const { name, icon: Icon } = SPEAKERS[message.role] ?? SPEAKERS.assistant;
  const Heading = headingTag(level);
  const said = factsOf(message);
  return (
    <header className={styles.head}>
      <Icon size={15} aria-hidden className={styles.icon} />
      <Heading id={id} className={styles.name}>
        {said.agent ? visible(said.agent) : name}
      </Heading>
      {message.internal && <span className={styles.badge}>internal</span>}
      {said.model && <span className={styles.fact}>{visible(said.model)}</span>}
      {message.createdAt && (
        <time className={styles.fact} dateTime={message.createdAt} title={moment(message.createdAt)}>
          {ago(message.createdAt)}
        </time>
      )}
      {said.usage && (
        <span className={styles.fact} title={said.usageInFull}>
          {said.usage}
        </span>
      )}
      {said.cost !== undefined && <span className={styles.fact}>{money(said.cost)}</span>}
      <MessageActions message={message} place={place}>
        {actions}
      </MessageActions>
    </header>
  );
}

/** Copy, link, raw, and what else there is where the message stands. */
export function MessageActions({
  message,
  place,
  children,
}: {
  message: Message;
  place: PartPlace;
  children?: ReactNode;
}) {
  const { linkTo, showRaw } = useViewing();
  return (
    <div className={styles.actions}>
      <CopyButton text={() => messageAsMarkdown(message)} label="Copy this message as Markdown" />
      {linkTo && (
        <CopyButton
          text={() => linkTo({ ...place, path: place.path || undefined })}
          label="Copy a link to this message"
          icon={<Link2 size={14} aria-hidden />}
        />
      )}
      {showRaw && (
        <IconButton label="Show the raw events" onClick={() => showRaw(message.id)}>
          <Braces size={14} aria-hidden />
        </IconButton>
      )}
      {children}
    </div>
  );
}

interface Facts {
  readonly agent?: string;
  readonly model?: string;
  readonly usage: string | null;
  readonly usageInFull?: string;
  readonly cost?: number;
}

/** What is told about a message beside its parts. */
export function factsOf(message: Message): Facts {
  const metadata = message.content.metadata;
  const told = (typeof metadata === "object" && metadata !== null ? metadata : {}) as Record<string, unknown>;
  const usage = message.role === "assistant" ? (message as AssistantMessage).content.usage : undefined;
  const words = (value: unknown) => (typeof value === "string" && value ? value : undefined);
  return {
    agent: message.role === "assistant" ? (words(told.agentName) ?? words(told.agent)) : undefined,
    model: words(told.model),
    usage: usageOf(usage),
    usageInFull: usage && inFull(usage),
    cost: typeof told.cost === "number" ? told.cost : undefined,
  };
}

const COUNTS = [
  ["inputTokens", "in"],
  ["cachedInputTokens", "from the cache"],
  ["cacheWriteTokens", "into the cache"],
  ["outputTokens", "out"],
  ["reasoningTokens", "for reasoning"],
] as const;

function inFull(usage: NonNullable<AssistantMessage["content"]["usage"]>): string {
  const told = COUNTS.flatMap(([name, what]) => {
    const value = usage[name];
    return typeof value === "number" ? [`${count(value)} ${what}`] : [];
  });
  return `Tokens: ${told.join(", ")}`;
}
