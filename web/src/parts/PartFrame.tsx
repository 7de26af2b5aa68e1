import { Link2 } from "lucide-react";
import type { ReactNode } from "react";
import { type PartPlace, useRenderContext } from "../context/renderContext";
import type { Part } from "../partita.gen";
import { CopyButton } from "../ui/CopyButton";
import { anchorOf } from "./anchors";
import { HiddenText } from "./HiddenText";
import styles from "./PartFrame.module.css";
import { partAsMarkdown } from "./toMarkdown";

/** Parts that have their own buttons, or are too small for buttons. */
const WITHOUT_BUTTONS: ReadonlySet<string> = new Set([
  "tool-call",
  "tool-result",
  "step-start",
  "source-url",
  "source-document",
]);

/** The element of a part for permalinks, with the buttons to copy the part and its link. */
export function PartFrame({ part, place, children }: { part: Part; place: PartPlace; children: ReactNode }) {
  const { linkTo } = useRenderContext();
  return (
    <div
      id={anchorOf(place.messageId, place.path)}
      className={styles.part}
      data-place={`${place.messageId}/${place.path}`}
      data-part={part.type}
    >
      {children}
      <HiddenText part={part} />
      {!WITHOUT_BUTTONS.has(part.type) && (
        <div className={styles.buttons}>
          <CopyButton text={() => partAsMarkdown(part)} label="Copy this part" />
          {linkTo && (
            <CopyButton
              text={() => linkTo(place)}
              label="Copy link to this part"
              icon={<Link2 size={14} aria-hidden />}
            />
          )}
        </div>
      )}
    </div>
  );
}
