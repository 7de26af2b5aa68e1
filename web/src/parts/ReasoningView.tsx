import { Brain } from "lucide-react";
import { Markdown } from "../markdown/Markdown";
import type { ReasoningPart } from "../partita.gen";
import { Fold } from "../ui/Fold";
import { count, duration, plural } from "../ui/format";
import { type Timing, useViewing } from "../viewing/viewing";
import { holds } from "./anchors";
import type { PartProps } from "./PartView";
import styles from "./ReasoningView.module.css";

/** What the model said to itself: open while it does, closed when it is done. */
export function ReasoningView({ part, place, last }: PartProps<ReasoningPart>) {
  const { live, timing, target } = useViewing();
  const isComing = part.state === "streaming" || (live && last === true && part.state !== "done");
  const facts = [lasted(timing(place)), part.tokenCount ? plural(part.tokenCount, "token") : null];
  const head = (
    <span className={styles.head}>
      <Brain size={14} aria-hidden />
      <span className={styles.name}>{isComing ? "Reasoning …" : "Reasoning"}</span>
      <span className={styles.facts}>{facts.filter(Boolean).join(" · ")}</span>
    </span>
  );
  if (!part.text.trim() && !isComing)
    return (
      <div className={styles.hidden}>
        {head}
        <span className={styles.facts}>{isRedacted(part) ? "hidden by its provider" : "not shown"}</span>
      </div>
    );
  return (
    // Another key when it is done: it closes then, and stays as somebody leaves it before and after.
    <Fold
      key={isComing ? "coming" : "done"}
      className={styles.reasoning}
      head={head}
      open={isComing || holds(place, target)}
    >
      <div className={styles.body}>
        <Markdown text={part.text} live={isComing} />
        {!isComing && part.text.length > 2000 && (
          <p className={styles.facts}>{count(part.text.length)} characters</p>
        )}
      </div>
    </Fold>
  );
}

/** How long something took, in words; null when that is not known. */
export function lasted(timing: Timing | undefined): string | null {
  if (!timing?.startedAt || !timing.endedAt) return null;
  const seconds = (Date.parse(timing.endedAt) - Date.parse(timing.startedAt)) / 1000;
  return Number.isFinite(seconds) && seconds >= 0 ? duration(seconds) : null;
}

/** Whether a provider kept the words to itself: it sends them sealed, for itself to read again. */
export function isRedacted(part: ReasoningPart): boolean {
  return Object.values(part.providerMetadata ?? {}).some(
    (said) =>
      typeof said === "object" &&
      said !== null &&
      Object.keys(said).some((name) => /redacted|encrypted/i.test(name)),
  );
}
