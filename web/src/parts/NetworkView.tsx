import { Bot, type LucideIcon, Waypoints, Workflow, Wrench } from "lucide-react";
import { useId } from "react";
import { type PartPlace, useRenderContext } from "../context/renderContext";
import { Markdown } from "../markdown/Markdown";
import { PlainText } from "../markdown/PlainText";
import type { NetworkExecution, NetworkResult, Part, ToolCallPart } from "../partita.gen";
import { stringify } from "../tools/json";
import { ToolCard } from "../tools/ToolCard";
import { Fold } from "../ui/Fold";
import { visible } from "../ui/sanitize";
import { anchorOf } from "./anchors";
import styles from "./NetworkView.module.css";
import { Tree } from "./Tree";

const PRIMITIVES: Readonly<Record<string, LucideIcon>> = { agent: Bot, workflow: Workflow, tool: Wrench };

/** One iteration of an agent network: the selected primitive, the reason, the input and the result. */
export function NetworkView({ network, place }: { network: NetworkExecution; place: PartPlace }) {
  const Icon = PRIMITIVES[network.primitiveType] ?? Waypoints;
  const head = (
    <span className={styles.head}>
      <Waypoints size={14} aria-hidden />
      <span className={styles.what}>{stateOf(network.finalResult)}</span>
      <span className={styles.primitive}>
        <Icon size={13} aria-hidden /> {visible(network.primitiveType)}{" "}
        <strong>{visible(network.primitiveId || "none")}</strong>
      </span>
      {network.iteration !== undefined && (
        <span className={styles.fact}>iteration {String(network.iteration)}</span>
      )}
    </span>
  );
  return (
    <div
      id={anchorOf(place.messageId, place.path)}
      data-place={`${place.messageId}/${place.path}`}
      className={styles.network}
    >
      <Fold head={head} open>
        <div className={styles.body}>
          {network.selectionReason && (
            <p className={styles.reason}>
              <span className={styles.fact}>Reason:</span> <PlainText text={network.selectionReason} />
            </p>
          )}
          {network.input !== undefined && <Input value={network.input} />}
          {network.finalResult && <Result result={network.finalResult} place={place} />}
        </div>
      </Fold>
    </div>
  );
}

/** Why an execution failed or was interrupted. */
const failureOf = ({ error, interrupted }: NetworkResult): string | undefined =>
  error ?? (interrupted && `interrupted: ${interrupted}`);

/** The state of an execution. One that is running or waits for a client has only messages. */
function stateOf(result: NetworkResult | undefined): string {
  if (result && failureOf(result)) return "Failed:";
  const hasEnded = Object.entries(result ?? {}).some(
    ([key, value]) => key !== "messages" && value !== undefined,
  );
  return hasEnded ? "Completed:" : "Running:";
}

/** The calls of a result that are not in its messages. */
function otherCalls({ toolCalls = [], messages = [] }: NetworkResult): readonly ToolCallPart[] {
  const parts = messages.flatMap((message) => message.content.parts as readonly Part[]);
  const known = new Set(parts.map((part) => (part.type === "tool-call" ? (part as ToolCallPart).id : "")));
  return toolCalls.filter((call) => !known.has(call.id));
}

function Input({ value }: { value: unknown }) {
  return typeof value === "string" ? (
    <div className={styles.well}>
      <span className={styles.fact}>Input</span>
      <Markdown text={value} live={false} />
    </div>
  ) : (
    <Fold head={<span className={styles.fact}>Input</span>} text={stringify(value)}>
      <Tree value={value} />
    </Fold>
  );
}

function Result({ result, place }: { result: NetworkResult; place: PartPlace }) {
  const { Messages } = useRenderContext();
  const id = useId();
  const failure = failureOf(result);
  const isText = Boolean(result.text) && (result.value === undefined || typeof result.value === "string");
  const shown = result.messages?.filter((message) => !message.internal) ?? [];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div role="group" aria-labelledby={id} className={styles.body}>
      <span id={id} className={styles.fact}>
        Result
      </span>
      {otherCalls(result).map((call, index) => (
        <ToolCard
          key={`${call.id}/${index}`}
          call={call}
          place={{ ...place, path: `${place.path}.toolCalls.${index}` }}
        />
      ))}
      {shown.length > 0 && <Messages messages={shown} place={{ ...place, path: `${place.path}.messages` }} />}
      {failure && (
        <p role="alert" className={styles.failure}>
          <PlainText text={failure} />
        </p>
      )}
      {isText && <Markdown text={String(result.text)} live={false} />}
      {result.value !== undefined && !isText && <Tree value={result.value} />}
    </div>
  );
}
