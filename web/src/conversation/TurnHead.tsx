import { ChartNoAxesGantt } from "lucide-react";
import { memo } from "react";
import type { OverviewTurn } from "../partita.gen";
import { TurnLine } from "../parts/TurnLine";
import { IconButton } from "../ui/Button";
import styles from "./TurnHead.module.css";
import { factsOf, type Turn } from "./turns";

interface Props {
  readonly turn: Turn;
  /** What the server knows about it: also failed commands, and calls of sub-agents. */
  readonly overview: OverviewTurn | undefined;
  readonly onTimeline: (messageId: string) => void;
}

/** The head of a turn. It has the same height before and after its facts are known. */
export const TurnHead = memo(function TurnHead({ turn, overview, onTimeline }: Props) {
  const known = factsOf(turn);
  const facts = overview
    ? {
        startedAt: overview.startedAt ?? known.startedAt,
        seconds: overview.seconds,
        calls: overview.calls,
        failed: overview.failed,
        tokens: overview.inputTokens + overview.outputTokens,
        cost: overview.cost,
      }
    : known;
  return (
    <div className={styles.head}>
      <TurnLine number={turn.number} isRunning={turn.isRunning} {...facts} />
      {overview && overview.calls > 0 && (
        <IconButton
          label={`Timeline of turn ${turn.number}`}
          className={styles.timeline}
          onClick={() => onTimeline(overview.messageId)}
        >
          <ChartNoAxesGantt size={15} />
        </IconButton>
      )}
    </div>
  );
});
