import { Link2 } from "lucide-react";
import type { ReactNode } from "react";
import type { Part } from "../partita.gen";
import { CopyButton } from "../ui/CopyButton";
import { type PartPlace, useViewing } from "../viewing/viewing";
import { anchorOf } from "./anchors";
import styles from "./PartFrame.module.css";
import { partAsMarkdown } from "./plain";

/** Parts that have their buttons themselves, or are too small for any. */
const BARE: ReadonlySet<string> = new Set([
  "tool-call",
  "tool-result",
  "step-start",
  "source-url",
  "source-document",
]);

/** The element that a permalink finds, and the buttons to copy a part and its link. */
export function PartFrame({ part, place, children }: { part: Part; place: PartPlace; children: ReactNode }) {
  const { linkTo } = useViewing();
  return (
    <div
      id={anchorOf(place.messageId, place.path)}
      className={styles.part}
      data-place={`${place.messageId}/${place.path}`}
      data-part={part.type}
    >
      {children}
      {!BARE.has(part.type) && (
        <div className={styles.buttons}>
          <CopyButton text={() => partAsMarkdown(part)} label="Copy this part" />
          {linkTo && (
            <CopyButton
              text={() => linkTo(place)}
              label="Copy a link to this part"
              icon={<Link2 size={14} aria-hidden />}
            />
          )}
        </div>
      )}
    </div>
  );
}
