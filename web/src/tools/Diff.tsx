import { Columns2 } from "lucide-react";
import { useMemo, useState } from "react";
import { useRenderContext } from "../context/renderContext";
import type { FileChange, ToolCallPart } from "../partita.gen";
import { Button, IconButton } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { EditorLink } from "../ui/EditorLink";
import { FilePath } from "../ui/FilePath";
import { count, plural } from "../ui/format";
import { useShownItems } from "../ui/reveal";
import { ShowAll } from "../ui/ShowAll";
import { visible } from "../ui/sanitize";
import styles from "./Diff.module.css";
import { DiffTable } from "./DiffTable";
import { type HunkLines, hunksOf } from "./diffs";
import { Section } from "./Section";

const PAGES = { first: 400, next: 2000 };
const CHANGE_LABELS = { add: "new file", update: "", delete: "deleted" } as const;

/** The changes of a call, by file. */
export function Diff({ part, changes }: { part: ToolCallPart; changes: readonly FileChange[] }) {
  return changes.map((change, at) => (
    <ChangedFile key={at} part={part} change={change} isOnly={changes.length === 1} />
  ));
}

interface FileProps {
  readonly part: ToolCallPart;
  readonly change: FileChange;
  /** The only file of the call: the head of the card has its path and the numbers of lines. */
  readonly isOnly: boolean;
}

function ChangedFile({ part, change, isOnly }: FileProps) {
  const [isSplit, setSplit] = useState(false);
  const hunks = useMemo(() => hunksOf(part, change), [part, change]);
  const lines = useMemo(() => hunks.flatMap((hunk) => hunk.lines), [hunks]);
  const total = lines.length;
  const { limit, more, area } = useShownItems(lines, textOfLine, PAGES);
  return (
    <Section
      title={isOnly ? hasNote(change) && <FileNote change={change} /> : <FileHead change={change} />}
      aside={
        <span className={styles.buttons}>
          <IconButton
            className={styles.split}
            label="Side by side"
            pressed={isSplit}
            onClick={() => setSplit(!isSplit)}
          >
            <Columns2 size={14} />
          </IconButton>
          <CopyButton text={() => newText(hunks)} label="Copy new lines" />
        </span>
      }
    >
      {total > 0 && (
        <ShowAll
          className={styles.box}
          label={`Changes of ${visible(change.path)}`}
          what={plural(total, "line")}
        >
          <div {...area}>
            <DiffTable hunks={hunks} isSplit={isSplit} limit={limit} />
          </div>
        </ShowAll>
      )}
      {total > limit && (
        <p>
          <Button small onClick={more}>
            Show {plural(total - limit, "more line")}
          </Button>
        </p>
      )}
    </Section>
  );
}

function FileHead({ change }: { change: FileChange }) {
  const { folder } = useRenderContext();
  return (
    <span className={styles.head}>
      <FilePath path={change.path} folder={folder} />
      {hasNote(change) && <FileNote change={change} />}
      <Counts plus={change.added ?? 0} minus={change.removed ?? 0} />
      <EditorLink path={change.path} folder={folder} line={change.hunks?.[0]?.newStart} />
    </span>
  );
}

const hasNote = ({ change = "update", movedTo }: FileChange): boolean =>
  CHANGE_LABELS[change] !== "" || Boolean(movedTo);

/** What happened to the file, besides changed lines. */
function FileNote({ change: { change = "update", movedTo } }: { change: FileChange }) {
  const { folder } = useRenderContext();
  const label = CHANGE_LABELS[change];
  return (
    <span className={styles.note}>
      {label}
      {movedTo && (
        <>
          → <FilePath path={movedTo} folder={folder} />
        </>
      )}
    </span>
  );
}

/** +3 −1 */
export function Counts({ plus, minus }: { plus: number; minus: number }) {
  return (
    <span className={styles.counts}>
      {plus > 0 && <span className={styles.plus}>+{count(plus)}</span>}
      {minus > 0 && <span className={styles.minus}>−{count(minus)}</span>}
      <span className="visually-hidden">
        {plural(plus, "line")} added, {plural(minus, "line")} removed
      </span>
    </span>
  );
}

/** A line without its mark. */
const textOfLine = (line: string): string => line.slice(1);

const newText = (hunks: readonly HunkLines[]): string =>
  hunks
    .map((hunk) =>
      hunk.lines
        .filter((line) => !line.startsWith("-"))
        .map(textOfLine)
        .join("\n"),
    )
    .join("\n");
