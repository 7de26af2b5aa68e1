import type { DiffHunk, PartPlace } from "../partita.gen";
import { plural } from "../ui/format";
import styles from "./FileSection.module.css";
import type { Place } from "./figures";

interface Props {
  readonly hunk: DiffHunk;
  /** All edits of the file. */
  readonly edits: readonly PartPlace[];
  readonly hrefOf: (place: Place) => string;
}

/** Links to more edits are left out. */
const MAX_LINKS = 6;

/** Where a hunk is, and links to the calls that made it. */
export function HunkHead({ hunk, edits, hrefOf }: Props) {
  const line = hunk.newStart ?? hunk.oldStart;
  const shown = hunk.edits.slice(0, MAX_LINKS);
  return (
    <span className={styles.hunk}>
      {line !== null && <span>Line {line}</span>}
      {shown.map((edit) => (
        <a key={`${edit.messageId} ${edit.part}`} href={hrefOf(edit)}>
          {edits.length > 1 ? `Edit ${numberOf(edit, edits)} of ${edits.length}` : "Show the edit"}
        </a>
      ))}
      {hunk.edits.length > shown.length && (
        <span>and {plural(hunk.edits.length - shown.length, "more edit")}</span>
      )}
    </span>
  );
}

const numberOf = (edit: PartPlace, edits: readonly PartPlace[]): number =>
  edits.findIndex((one) => one.messageId === edit.messageId && one.part === edit.part) + 1;
