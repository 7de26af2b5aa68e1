import { useMemo, useState } from "react";
import { Button } from "../ui/Button";
import { plural } from "../ui/format";
import { visible } from "../ui/hostile";
import type { BodyProps } from "./bodies";
import { hasFailed } from "./call";
import { foundBy, type Group, literals, markedPieces, patternOf } from "./finding";
import { CopyOutput, Output, Rest } from "./Output";
import { Scrolling } from "./Scrolling";
import styles from "./SearchFound.module.css";
import { Section } from "./Section";

const PAGE = 60;
const NEXT_PAGE = 500;
const MOST_HITS = 100;
const LONGEST = 400;

/** What a search, a glob or a listing found. */
export function SearchFound({ call }: BodyProps) {
  const found = useMemo(() => foundBy(call), [call]);
  const words = useMemo(() => literals(patternOf(call)), [call]);
  const [limit, setLimit] = useState(PAGE);
  if (hasFailed(call) || (!found.groups.length && call.given.value !== undefined))
    return <Output call={call} label={hasFailed(call) ? "Error" : "Output"} />;
  const { groups, notes, total } = found;
  return (
    <Section title={titleOf(groups, total)} aside={groups.length > 0 && <CopyOutput call={call} />}>
      {notes.map((note, at) => (
        <p key={at} className={styles.note}>
          {visible(note.slice(0, LONGEST))}
        </p>
      ))}
      {groups.length > 0 && (
        <Scrolling className={styles.box} label="Found">
          <ul className={styles.list}>
            {groups.slice(0, limit).map((group, at) => (
              <FoundFile key={at} group={group} words={words} />
            ))}
          </ul>
          {groups.length > limit && (
            <Button small onClick={() => setLimit(limit + NEXT_PAGE)}>
              Show {plural(groups.length - limit, "more", "more")}
            </Button>
          )}
        </Scrolling>
      )}
      <Rest call={call} />
    </Section>
  );
}

function titleOf(groups: readonly Group[], total: number | undefined): string {
  if (!groups.length) return total === 0 ? "Nothing found" : "";
  const files = plural(groups.length, "file");
  const hasHits = groups.some((group) => group.hits.length || group.count !== undefined);
  return hasHits && total !== undefined
    ? `${plural(total, "match", "matches")} in ${files}`
    : plural(groups.length, "entry", "entries");
}

function FoundFile({ group, words }: { group: Group; words: readonly string[] }) {
  const hits = group.hits.slice(0, MOST_HITS);
  return (
    <li>
      <span className={hits.length ? styles.file : styles.path}>{visible(group.path.slice(0, LONGEST))}</span>
      {group.count !== undefined && (
        <span className={styles.count}> {plural(group.count, "match", "matches")}</span>
      )}
      {hits.length > 0 && (
        <ol className={styles.hits}>
          {hits.map((hit, at) => (
            <li key={at} className={hit.isContext ? styles.context : styles.hit}>
              <span className={styles.number}>{hit.line}</span>
              <span className={styles.text}>
                {markedPieces(hit.text.slice(0, LONGEST), words).map((piece, n) =>
                  piece.hit && !hit.isContext ? (
                    <mark key={n}>{visible(piece.text)}</mark>
                  ) : (
                    visible(piece.text)
                  ),
                )}
                {hit.text.length > LONGEST && " …"}
              </span>
            </li>
          ))}
        </ol>
      )}
      {group.hits.length > MOST_HITS && (
        <p className={styles.count}>{plural(group.hits.length - MOST_HITS, "more line")}</p>
      )}
    </li>
  );
}
