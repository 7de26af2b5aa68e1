import { Bot, type LucideIcon, Waypoints, Workflow, Wrench } from "lucide-react";
import { useId } from "react";
import { Markdown } from "../markdown/Markdown";
import { Words } from "../markdown/Words";
import type { NetworkExecution, NetworkResult } from "../partita.gen";
import { JsonTree } from "../tools/JsonTree";
import { ToolCard } from "../tools/ToolCard";
import { Fold } from "../ui/Fold";
import { visible } from "../ui/hostile";
import { type PartPlace, useViewing } from "../viewing/viewing";
import { anchorOf } from "./anchors";
import styles from "./NetworkView.module.css";

const PRIMITIVES: Readonly<Record<string, LucideIcon>> = { agent: Bot, workflow: Workflow, tool: Wrench };

/** One turn of a network: what it chose, why, and what came of it. */
export function NetworkView({ network, place }: { network: NetworkExecution; place: PartPlace }) {
  const Icon = PRIMITIVES[network.primitiveType] ?? Waypoints;
  const head = (
    <span className={styles.head}>
      <Waypoints size={14} aria-hidden />
      <span className={styles.what}>{network.finalResult ? "Ran" : "Runs"}</span>
      <span className={styles.primitive}>
        <Icon size={13} aria-hidden /> {visible(network.primitiveType)}{" "}
        <strong>{visible(network.primitiveId || "nothing")}</strong>
      </span>
      {network.iteration !== undefined && (
        <span className={styles.fact}>turn {Number(network.iteration) + 1}</span>
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
              <span className={styles.fact}>Chosen because</span> <Words text={network.selectionReason} />
            </p>
          )}
          {network.input !== undefined && <Input value={network.input} />}
          {network.finalResult && <Result result={network.finalResult} place={place} />}
        </div>
      </Fold>
    </div>
  );
}

function Input({ value }: { value: unknown }) {
  return typeof value === "string" ? (
    <div className={styles.well}>
      <span className={styles.fact}>Input</span>
      <Markdown text={value} live={false} />
    </div>
  ) : (
    <Fold head={<span className={styles.fact}>Input</span>}>
      <JsonTree value={value} open={1} />
    </Fold>
  );
}

function Result({ result, place }: { result: NetworkResult; place: PartPlace }) {
  const { Messages } = useViewing();
  const id = useId();
  return (
    <section aria-labelledby={id} className={styles.body}>
      <span id={id} className={styles.fact}>
        Result
      </span>
      {result.toolCalls?.map((call, index) => (
        <ToolCard
          key={`${call.id}/${index}`}
          call={call}
          place={{ ...place, path: `${place.path}.toolCalls.${index}` }}
        />
      ))}
      {result.messages && result.messages.length > 0 && (
        <Messages messages={result.messages} place={{ ...place, path: `${place.path}.messages` }} />
      )}
      {result.text && <Markdown text={result.text} live={false} />}
      {result.value !== undefined && <JsonTree value={result.value} open={1} />}
    </section>
  );
}
