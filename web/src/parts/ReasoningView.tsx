import { Brain } from "lucide-react";
import { containsTarget, elapsedSeconds, useRenderContext } from "../context/renderContext";
import type { ReasoningPart } from "../partita.gen";
import { Fold } from "../ui/Fold";
import { duration, plural } from "../ui/format";
import { usePreference } from "../ui/preferences";
import { LongProse } from "./LongProse";
import type { PartProps } from "./PartView";
import styles from "./ReasoningView.module.css";

/** Reasoning of the model: expanded while it is streaming, then collapsed. */
export function ReasoningView({ part, place, last }: PartProps<ReasoningPart>) {
  const { live, timing, target } = useRenderContext();
  const [expanded] = usePreference("open");
  const isStreaming = part.state === "streaming" || (live && last === true && part.state !== "done");
  const seconds = elapsedSeconds(timing(place));
  const facts = [
    seconds === null ? null : duration(seconds),
    part.tokenCount ? plural(part.tokenCount, "token") : null,
  ];
  const head = (
    <span className={styles.head}>
      <Brain size={14} aria-hidden />
      <span className={styles.name}>{isStreaming ? "Reasoning …" : "Reasoning"}</span>
      <span className={styles.facts}>{facts.filter(Boolean).join(" · ")}</span>
    </span>
  );
  if (!part.text.trim() && !isStreaming)
    return (
      <div className={styles.hidden}>
        {head}
        <span className={styles.facts}>
          {isRedacted(part) ? "encrypted by the provider" : "not available"}
        </span>
      </div>
    );
  return (
    // A new key when streaming ends: then the fold closes.
    <Fold
      key={isStreaming ? "streaming" : "done"}
      head={head}
      text={part.text}
      open={isStreaming || expanded.includes("reasoning")}
      holds={containsTarget(place, target)}
    >
      <div className={styles.body}>
        <LongProse text={part.text} label="Reasoning" size="medium" live={isStreaming} />
      </div>
    </Fold>
  );
}

/** Whether the provider sent the reasoning only in encrypted form. */
function isRedacted(part: ReasoningPart): boolean {
  return Object.values(part.providerMetadata ?? {}).some(
    (metadata) =>
      typeof metadata === "object" &&
      metadata !== null &&
      Object.keys(metadata).some((name) => /redacted|encrypted/i.test(name)),
  );
}
