import type { Notice } from "../partita.gen";
import { Fold } from "../ui/Fold";
import { capitalized, plural } from "../ui/format";
import { ShowAll } from "../ui/ShowAll";
import { visible } from "../ui/sanitize";
import styles from "./AddedText.module.css";

/** A text that an editor or an agent added to a prompt or an output, collapsed. */
export function AddedText({ notice: { label, text = "" } }: { notice: Notice }) {
  const name = visible(capitalized(label));
  const lines = plural(text.split("\n").length, "line");
  return (
    <Fold
      text={text}
      head={
        <span className={styles.head}>
          {name} <span className={styles.size}>{lines}</span>
        </span>
      }
    >
      <ShowAll label={name} what={lines}>
        <pre className={styles.text}>{visible(text)}</pre>
      </ShowAll>
    </Fold>
  );
}
