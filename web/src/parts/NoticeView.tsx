import type { Notice } from "../partita.gen";
import { plural } from "../ui/format";
import { ShowAll } from "../ui/ShowAll";
import { visible } from "../ui/sanitize";
import styles from "./NoticeView.module.css";

/** A part that an agent added for itself: a slash command, its output, or an error of the API. */
export function NoticeView({ notice: { label, text, hidden } }: { notice: Notice }) {
  if (hidden) return null;
  return (
    <div className={styles.notice}>
      {label && <p className={styles.label}>{visible(label)}</p>}
      {text && (
        <ShowAll
          label={visible(label) || "Output"}
          size="small"
          what={plural(text.split("\n").length, "line")}
        >
          <pre className={styles.text}>{visible(text)}</pre>
        </ShowAll>
      )}
    </div>
  );
}
