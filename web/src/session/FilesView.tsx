import { ChevronsDownUp, ChevronsUpDown } from "lucide-react";
import { useCallback, useEffect, useRef, useState } from "react";
import type { ChangedFile, FileDiff } from "../partita.gen";
import { Counts } from "../tools/Diff";
import { IconButton } from "../ui/Button";
import { ButtonGroup } from "../ui/ButtonGroup";
import { useCommands } from "../ui/commands";
import { plural } from "../ui/format";
import { Empty, Failure, Loading } from "../ui/States";
import { FileList } from "./FileList";
import { FileSection } from "./FileSection";
import styles from "./FilesView.module.css";
import type { Place } from "./figures";

export interface FilesProps {
  /** The files of the overview; undefined while it is loading. */
  readonly files: readonly ChangedFile[] | undefined;
  readonly diffs: readonly FileDiff[] | undefined;
  readonly error: unknown;
  readonly retry: () => void;
  /** The folder of the project. */
  readonly folder: string | undefined;
  /** The path of the file in the address. */
  readonly selected: string | null;
  readonly onSelect: (path: string) => void;
  /** The address of a call. */
  readonly hrefOf: (place: Place) => string;
  /** Loads all lines of a file. */
  readonly loadAll: (path: string) => Promise<FileDiff | undefined>;
}

const LAYOUTS = [
  { value: "unified", label: "Unified" },
  { value: "split", label: "Side by side" },
] as const;

/** Longer diffs are collapsed at first. */
const LONG = 600;

/** The files that a session changed, and all edits of each as one diff. */
export function FilesView(props: FilesProps) {
  const { files, diffs, error, retry } = props;
  if (error && !diffs) return <Failure error={error} retry={retry} />;
  if (!files || !diffs) return <Loading />;
  if (!files.length)
    return <Empty title="No file was changed">The calls of this session have changed no files.</Empty>;
  return <Files {...props} files={files} diffs={diffs} />;
}

type LoadedProps = FilesProps & {
  readonly files: readonly ChangedFile[];
  readonly diffs: readonly FileDiff[];
};

/** Mounted after the messages: its keys replace theirs. */
function Files(props: LoadedProps) {
  const { files, diffs, folder, selected, onSelect } = props;
  const [layout, setLayout] = useState<(typeof LAYOUTS)[number]["value"]>("unified");
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const content = useRef<HTMLElement>(null);
  const isOpen = (diff: FileDiff) =>
    toggled.get(diff.path) ?? (diff.lineCount <= LONG || diff.path === selected);
  const shown = diffs.map(({ path }) => path);
  const step = (by: 1 | -1) => {
    const at = selected === null ? (by > 0 ? -1 : 1) : shown.indexOf(selected);
    const next = shown[at + by];
    if (next !== undefined) onSelect(next);
  };
  useCommands([
    { keys: "j", what: "Next file", group: "Session", run: () => step(1) },
    { keys: "k", what: "Previous file", group: "Session", run: () => step(-1) },
  ]);
  const goTo = useCallback((path: string) => {
    const section = [...(content.current?.children ?? [])].find(
      (one) => one instanceof HTMLElement && one.dataset.file === path,
    );
    if (!(section instanceof HTMLElement)) return;
    section.scrollIntoView({ block: "start" });
    section.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    if (selected !== null) goTo(selected);
  }, [selected, goTo]);

  const setAll = (open: boolean) => setToggled(new Map(shown.map((path) => [path, open])));
  const isAnyOpen = diffs.some(isOpen);
  return (
    <section className={styles.view} aria-label="Changed files">
      <div className={styles.head}>
        <h2>{plural(files.length, "changed file")}</h2>
        <Counts plus={sum(files, "added")} minus={sum(files, "removed")} />
        <span className={styles.layout}>
          <ButtonGroup label="Layout of the diffs" value={layout} choices={LAYOUTS} onChange={setLayout} />
        </span>
        <IconButton
          label={isAnyOpen ? "Collapse all files" : "Expand all files"}
          onClick={() => setAll(!isAnyOpen)}
        >
          {isAnyOpen ? <ChevronsDownUp size={16} /> : <ChevronsUpDown size={16} />}
        </IconButton>
      </div>
      <FileList
        files={files}
        folder={folder}
        selected={selected}
        onSelect={(path) => (path === selected ? goTo(path) : onSelect(path))}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section ref={content} className={styles.diffs} tabIndex={0} aria-label="Diffs">
        {diffs.map((diff) => (
          <FileSection
            key={diff.path}
            diff={diff}
            edits={files.find((file) => file.path === diff.path)?.edits ?? []}
            folder={folder}
            isOpen={isOpen(diff)}
            isSplit={layout === "split"}
            onToggle={() => setToggled(new Map(toggled).set(diff.path, !isOpen(diff)))}
            hrefOf={props.hrefOf}
            loadAll={props.loadAll}
          />
        ))}
      </section>
    </section>
  );
}

const sum = (files: readonly ChangedFile[], name: "added" | "removed"): number =>
  files.reduce((total, file) => total + file[name], 0);
