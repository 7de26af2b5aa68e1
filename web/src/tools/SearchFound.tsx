import { useMemo, useState } from "react";
import type { FoundFile } from "../partita.gen";
import { Button } from "../ui/Button";
import { plural } from "../ui/format";
import { visible } from "../ui/hostile";
import type { BodyProps } from "./bodies";
import { hasFailed } from "./call";
import { CopyOutput, Output, Rest } from "./Output";
import { Scrolling } from "./Scrolling";
import styles from "./SearchFound.module.css";
import { Section } from "./Section";
import { literals, markedPieces } from "./searchWords";

const PAGE = 60;
const NEXT_PAGE = 500;
const MOST_MATCHES = 100;
const LONGEST = 400;

/** What a search, a glob or a listing found. */
export function SearchFound({ call }: BodyProps<"search">) {
  const { pattern = "", files = [], remarks = [], total } = call.view;
  const words = useMemo(() => literals(pattern), [pattern]);
  const [limit, setLimit] = useState(PAGE);
  const { text, value } = call.given;
  // An output that the server could not parse, or that was too long for that, is drawn as it is.
  const isPlain = !files.length && (value !== undefined || (text !== "" && !remarks.length && total !== 0));
  if (hasFailed(call) || isPlain) return <Output call={call} label={hasFailed(call) ? "Error" : "Output"} />;
  return (
    <Section title={titleOf(files, total)} aside={files.length > 0 && <CopyOutput call={call} />}>
      {remarks.map((note, at) => (
        <p key={at} className={styles.note}>
          {visible(note.slice(0, LONGEST))}
        </p>
      ))}
      {files.length > 0 && (
        <Scrolling className={styles.box} label="Found">
          <ul className={styles.list}>
            {files.slice(0, limit).map((file, at) => (
              <File key={at} file={file} words={words} />
            ))}
          </ul>
          {files.length > limit && (
            <Button small onClick={() => setLimit(limit + NEXT_PAGE)}>
              Show {plural(files.length - limit, "more", "more")}
            </Button>
          )}
        </Scrolling>
      )}
      <Rest call={call} />
    </Section>
  );
}

function titleOf(files: readonly FoundFile[], total: number | undefined): string {
  if (!files.length) return total === 0 ? "Nothing found" : "";
  const hasMatches = files.some(({ matches, count }) => matches?.length || count !== undefined);
  return hasMatches && total !== undefined
    ? `${plural(total, "match", "matches")} in ${plural(files.length, "file")}`
    : plural(files.length, "entry", "entries");
}

function File({ file, words }: { file: FoundFile; words: readonly string[] }) {
  const { path, count, matches = [] } = file;
  const shown = matches.slice(0, MOST_MATCHES);
  return (
    <li>
      <span className={shown.length ? styles.file : styles.path}>{visible(path.slice(0, LONGEST))}</span>
      {count !== undefined && <span className={styles.count}> {plural(count, "match", "matches")}</span>}
      {shown.length > 0 && (
        <ol className={styles.hits}>
          {shown.map(({ line, text, context }, at) => (
            <li key={at} className={context ? styles.context : styles.hit}>
              <span className={styles.number}>{line}</span>
              <span className={styles.text}>
                {markedPieces(text, words).map((piece, n) =>
                  piece.hit && !context ? <mark key={n}>{visible(piece.text)}</mark> : visible(piece.text),
                )}
              </span>
            </li>
          ))}
        </ol>
      )}
      {matches.length > MOST_MATCHES && (
        <p className={styles.count}>{plural(matches.length - MOST_MATCHES, "more line")}</p>
      )}
    </li>
  );
}
