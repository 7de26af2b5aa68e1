import { useMemo } from "react";
import { useRenderContext } from "../context/renderContext";
import type { FoundFile, Match } from "../partita.gen";
import { Button } from "../ui/Button";
import { EditorLink } from "../ui/EditorLink";
import { FilePath } from "../ui/FilePath";
import { count, plural } from "../ui/format";
import { useShownItems } from "../ui/reveal";
import { ShowAll } from "../ui/ShowAll";
import { visible } from "../ui/sanitize";
import type { BodyProps } from "./bodies";
import { hasFailed } from "./call";
import { CopyOutput, OtherOutput, Output } from "./Output";
import { literals, markedPieces } from "./patternMatches";
import styles from "./SearchResults.module.css";
import { Section } from "./Section";

const FILE_PAGES = { first: 60, next: 500 };
const MATCH_PAGES = { first: 100, next: 1000 };
const MAX_LENGTH = 400;

/** The results of a search, a glob or a directory listing. */
export function SearchResults({ call }: BodyProps<"search">) {
  const { pattern = "", files = [], remarks = [], total } = call.view;
  const words = useMemo(() => literals(pattern), [pattern]);
  const { limit, more, area } = useShownItems(files, textOfFile, FILE_PAGES);
  const { text, value } = call.content;
  // An output that the server could not parse, or that was too long, is displayed unchanged.
  const isPlain = !files.length && (value !== undefined || (text !== "" && !remarks.length && total !== 0));
  if (hasFailed(call) || isPlain) return <Output call={call} label={hasFailed(call) ? "Error" : "Output"} />;
  return (
    <Section title={titleOf(files, total)} aside={files.length > 0 && <CopyOutput call={call} />}>
      {remarks.map((note, at) => (
        <p key={at} className={styles.note}>
          {visible(note.slice(0, MAX_LENGTH))}
        </p>
      ))}
      {files.length > 0 && (
        <ShowAll className={styles.box} label="Search results" what={titleOf(files, total)}>
          <ul className={styles.list} {...area}>
            {files.slice(0, limit).map((file, at) => (
              <File key={at} file={file} words={words} />
            ))}
          </ul>
          {files.length > limit && (
            <Button small onClick={more}>
              Show {count(files.length - limit)} more
            </Button>
          )}
        </ShowAll>
      )}
      <OtherOutput call={call} />
    </Section>
  );
}

const textOfMatch = ({ text }: Match): string => text;
const textOfFile = ({ path, matches = [] }: FoundFile): string =>
  [path, ...matches.map(textOfMatch)].join("\n");

function titleOf(files: readonly FoundFile[], total: number | undefined): string {
  if (!files.length) return total === 0 ? "No results" : "";
  const hasMatches = files.some(({ matches, count }) => matches?.length || count !== undefined);
  return hasMatches && total !== undefined
    ? `${plural(total, "match", "matches")} in ${plural(files.length, "file")}`
    : plural(files.length, "entry", "entries");
}

function File({ file, words }: { file: FoundFile; words: readonly string[] }) {
  const { folder } = useRenderContext();
  const { path, count: total, matches = [] } = file;
  const { limit, more, area } = useShownItems(matches, textOfMatch, MATCH_PAGES);
  const shown = matches.slice(0, limit);
  return (
    <li>
      <EditorLink
        path={path}
        folder={folder}
        line={shown.find(({ context }) => !context)?.line}
        className={styles.link}
      >
        <FilePath path={path} folder={folder} className={shown.length ? styles.file : undefined} />
      </EditorLink>
      {total !== undefined && <span className={styles.count}> {plural(total, "match", "matches")}</span>}
      {shown.length > 0 && (
        <ol className={styles.hits} {...area}>
          {shown.map(({ line, text, context }, at) => (
            <li key={at} className={context ? styles.context : styles.hit}>
              <span className={styles.number}>
                {line !== undefined && (
                  <EditorLink path={path} folder={folder} line={line} className={styles.link}>
                    {line}
                  </EditorLink>
                )}
              </span>
              <span className={styles.text}>
                {markedPieces(text, words).map((piece, n) =>
                  piece.hit && !context ? <mark key={n}>{visible(piece.text)}</mark> : visible(piece.text),
                )}
              </span>
            </li>
          ))}
        </ol>
      )}
      {matches.length > limit && (
        <Button small kind="quiet" onClick={more}>
          Show {plural(matches.length - limit, "more line")}
        </Button>
      )}
    </li>
  );
}
