import { Bot, Braces, Link2, type LucideIcon, Settings2, User, Wrench } from "lucide-react";
import type { ReactNode } from "react";
import { type PartPlace, useRenderContext } from "../context/renderContext";
import { headingTag } from "../markdown/headingLevel";
import type { AssistantMessage, Message } from "../partita.gen";
import { IconButton } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { ago, count, moment, money } from "../ui/format";
import { visible } from "../ui/sanitize";
import styles from "./MessageHead.module.css";
import { usageOf } from "./StepMark";
import { messageAsMarkdown } from "./toMarkdown";

const ROLES: Readonly<Record<Message["role"], { name: string; icon: LucideIcon }>> = {
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

/** The role or agent, model, time, usage and cost of a message, and its buttons. */
export function MessageHead({ id, message, place, level, actions }: Props) {
  const { name, icon: Icon } = ROLES[message.role] ?? ROLES.assistant;
  const Heading = headingTag(level);
  const facts = factsOf(message);
  return (
    <header className={styles.head}>
      <Icon size={15} aria-hidden className={styles.icon} />
      <Heading id={id} className={styles.name}>
        {facts.agent ? visible(facts.agent) : name}
      </Heading>
      {message.internal && <span className={styles.badge}>internal</span>}
      {facts.model && <span className={styles.fact}>{visible(facts.model)}</span>}
      {message.createdAt && (
        <time className={styles.fact} dateTime={message.createdAt} title={moment(message.createdAt)}>
          {ago(message.createdAt)}
        </time>
      )}
      {facts.usage && (
        <span className={styles.fact} title={facts.usageDetails}>
          {facts.usage}
        </span>
      )}
      {facts.cost !== undefined && <span className={styles.fact}>{money(facts.cost)}</span>}
      <MessageActions message={message} place={place}>
        {actions}
      </MessageActions>
    </header>
  );
}

/** The buttons to copy the message, its link and its raw events, and those of the surroundings. */
export function MessageActions({
  message,
  place,
  children,
}: {
  message: Message;
  place: PartPlace;
  children?: ReactNode;
}) {
  const { linkTo, showRaw } = useRenderContext();
  return (
    <div className={styles.actions}>
      <CopyButton text={() => messageAsMarkdown(message)} label="Copy this message as Markdown" />
      {linkTo && (
        <CopyButton
          text={() => linkTo({ ...place, path: place.path || undefined })}
          label="Copy link to this message"
          icon={<Link2 size={14} aria-hidden />}
        />
      )}
      {showRaw && (
        <IconButton label="Show raw events" onClick={() => showRaw(message.id)}>
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
  readonly usageDetails?: string;
  readonly cost?: number;
}

/** The facts in the metadata of a message. */
function factsOf(message: Message): Facts {
  const metadata = message.content.metadata;
  const values = (typeof metadata === "object" && metadata !== null ? metadata : {}) as Record<
    string,
    unknown
  >;
  const usage = message.role === "assistant" ? (message as AssistantMessage).content.usage : undefined;
  const text = (value: unknown) => (typeof value === "string" && value ? value : undefined);
  return {
    agent: message.role === "assistant" ? (text(values.agentName) ?? text(values.agent)) : undefined,
    model: text(values.model),
    usage: usageOf(usage),
    usageDetails: usage && usageDetails(usage),
    cost: typeof values.cost === "number" ? values.cost : undefined,
  };
}

const COUNTS = [
  ["inputTokens", "in"],
  ["cachedInputTokens", "read from cache"],
  ["cacheWriteTokens", "written to cache"],
  ["outputTokens", "out"],
  ["reasoningTokens", "for reasoning"],
] as const;

function usageDetails(usage: NonNullable<AssistantMessage["content"]["usage"]>): string {
  const counts = COUNTS.flatMap(([name, what]) => {
    const value = usage[name];
    return typeof value === "number" ? [`${count(value)} ${what}`] : [];
  });
  return `Tokens: ${counts.join(", ")}`;
}
