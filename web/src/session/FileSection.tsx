import { ChevronRight } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { FileDiff, PartPlace } from "../partita.gen";
import { Counts } from "../tools/Diff";
import { DiffTable } from "../tools/DiffTable";
import { languageOf } from "../tools/language";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { EditorLink } from "../ui/EditorLink";
import { FilePath } from "../ui/FilePath";
import { plural } from "../ui/format";
import { absolutePath } from "../ui/paths";
import { visible } from "../ui/sanitize";
import { toastError } from "../ui/Toasts";
import styles from "./FileSection.module.css";
import type { FilesProps } from "./FilesView";
import { HunkHead } from "./HunkHead";

interface Props extends Pick<FilesProps, "folder" | "hrefOf" | "loadAll"> {
  readonly diff: FileDiff;
  /** All edits of the file. */
  readonly edits: readonly PartPlace[];
  readonly isOpen: boolean;
  readonly isSplit: boolean;
  readonly onToggle: () => void;
}

/** Lines that are rendered at first, and with each further click. */
const PAGE = 400;
/** The height of a line in rem, for files that are not rendered yet. */
const LINE = 1.165;

/** A file with its diff. It is rendered when it comes near the window. */
export function FileSection(props: Props) {
  const { diff, folder, isOpen, onToggle } = props;
  const section = useRef<HTMLElement>(null);
  const isNear = useIsNear(section);
  const name = visible(diff.path);
  return (
    <article ref={section} className={styles.file} data-file={diff.path} aria-label={name} tabIndex={-1}>
      <header className={styles.head}>
        <h3>
          <button type="button" className={styles.toggle} aria-expanded={isOpen} onClick={onToggle}>
            <ChevronRight size={14} className={styles.sign} aria-hidden />
            <FilePath path={diff.path} folder={folder} />
          </button>
        </h3>
        <Note diff={diff} folder={folder} />
        <Counts plus={diff.added} minus={diff.removed} />
        <span className={styles.buttons}>
          <CopyButton text={absolutePath(diff.path, folder) ?? diff.path} label="Copy path" />
          <EditorLink path={diff.path} folder={folder} line={diff.hunks[0]?.newStart ?? undefined} />
        </span>
      </header>
      {isOpen &&
        (isNear ? (
          <Body {...props} />
        ) : (
          <div style={{ height: `${Math.min(diff.lineCount, PAGE) * LINE}rem` }} />
        ))}
    </article>
  );
}

function Note({ diff, folder }: Pick<Props, "diff" | "folder">) {
  if (diff.deleted) return <span className={styles.note}>deleted</span>;
  if (diff.created) return <span className={styles.note}>new</span>;
  if (!diff.movedFrom) return null;
  return (
    <span className={`${styles.note} ${styles.moved}`}>
      moved from <FilePath path={diff.movedFrom} folder={folder} />
    </span>
  );
}

function Body({ diff, edits, isSplit, hrefOf, loadAll }: Props) {
  const [all, setAll] = useState<FileDiff | null>(null);
  const [limit, setLimit] = useState(PAGE);
  const { hunks, lineCount } = all ?? diff;
  const loaded = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  const rest = lineCount - Math.min(limit, loaded);
  const showMore = () => {
    setLimit(limit === PAGE ? limit + 4 * PAGE : Number.POSITIVE_INFINITY);
    if (loaded < lineCount) void loadAll(diff.path).then((found) => found && setAll(found), toastError);
  };
  const lines = hunks.map(({ lines, oldStart, newStart }) => ({
    lines,
    oldStart: oldStart ?? undefined,
    newStart: newStart ?? undefined,
  }));
  return (
    <div className={styles.body}>
      {!diff.combined && (
        <p className={styles.hint}>
          The file was also changed by something else: its edits are shown one after the other.
        </p>
      )}
      {hunks.length === 0 && (
        <p className={styles.hint}>
          {diff.deleted && !diff.created
            ? "The deleted lines are not known."
            : "The edits left no difference."}
        </p>
      )}
      <DiffTable
        hunks={lines}
        isSplit={isSplit}
        limit={limit}
        language={languageOf(diff.path)}
        headOf={(at) => hunks[at] && <HunkHead hunk={hunks[at]} edits={edits} hrefOf={hrefOf} />}
      />
      {rest > 0 && (
        <Button small className={styles.more} onClick={showMore}>
          Show {plural(rest, "more line")}
        </Button>
      )}
    </div>
  );
}

/** Whether an element has been near the visible part of its scroll container. */
function useIsNear(element: { readonly current: HTMLElement | null }): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    if (isNear || !element.current) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && setNear(true),
      { root: element.current.parentElement, rootMargin: "800px" },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, isNear]);
  return isNear;
}
