import { memo, type ReactNode } from "react";
import type { Difference, PartDiff, Piece, ShownPart } from "../api/runs";
import { duration } from "../ui/format";
import { visible } from "../ui/hostile";
import styles from "./PartRow.module.css";
import { json, piecesOfPart } from "./shown";
import { piecesOf } from "./words";

const MARKS = {
  same: ["=", "the same"],
  changed: ["≠", "changed"],
  removed: ["−", "only in A"],
  added: ["＋", "only in B"],
} as const;

/** A part of one run beside that of the other. */
export const PartRow = memo(function PartRow({ part, number }: { part: PartDiff; number?: number }) {
  const [mark, words] = MARKS[part.kind];
  return (
    <article
      className={styles.row}
      data-kind={part.kind}
      data-difference={number}
      tabIndex={number === undefined ? undefined : -1}
      aria-label={`${part.label}, ${words}`}
    >
      <header className={styles.head}>
        <span className={styles.mark} aria-hidden>
          {mark}
        </span>
        <strong>{visible(part.label)}</strong>
        <span className={styles.kind}>{words}</span>
        <Seconds seconds={part.seconds} />
      </header>
      <Body part={part} />
    </article>
  );
});

function Seconds({ seconds }: { seconds: PartDiff["seconds"] }) {
  if (!seconds) return null;
  const told = (["a", "b"] as const).flatMap((side) =>
    seconds[side] === undefined ? [] : [duration(seconds[side])],
  );
  return <span className={styles.seconds}>{told.join(" → ")}</span>;
}

function Body({ part }: { part: PartDiff }) {
  if (part.kind === "same") return part.a ? <Whole part={part.a} /> : null;
  if (part.kind !== "changed") {
    const own = part.a ?? part.b;
    return own ? (
      <div className={styles.sides}>
        <div>{part.a && <Whole part={part.a} side="a" />}</div>
        <div>{part.b && <Whole part={part.b} side="b" />}</div>
      </div>
    ) : null;
  }
  return (
    <>
      {part.differences && part.differences.length > 0 && <Paths differences={part.differences} />}
      {part.words && part.words.length > 0 && (
        <div className={styles.sides}>
          <Words side="a" words={part.words} />
          <Words side="b" words={part.words} />
        </div>
      )}
    </>
  );
}

/** All of a part. */
function Whole({ part, side }: { part: ShownPart; side?: "a" | "b" }) {
  return piecesOfPart(part).map(({ name, text }) => (
    <div key={name} className={styles.piece} data-side={side}>
      {name && <p className={styles.name}>{name}</p>}
      <Text>{text}</Text>
    </div>
  ));
}

function Text({ children }: { children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with keys
    <pre className={styles.text} tabIndex={0}>
      {children}
    </pre>
  );
}

/** One side of a text; what the other side has not is marked. */
function Words({ side, words }: { side: "a" | "b"; words: readonly Piece[] }) {
  return (
    <Text>
      {piecesOf(side, words).map((piece, place) => {
        if (piece.mark === "=") return <span key={place}>{visible(piece.text)}</span>;
        const Tag = piece.mark === "-" ? "del" : "ins";
        return <Tag key={place}>{visible(piece.text)}</Tag>;
      })}
    </Text>
  );
}

const MOST = 200;

/** Where two values differ, place by place. */
function Paths({ differences }: { differences: readonly Difference[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with keys
    <section className={styles.paths} tabIndex={0} aria-label="Differences of values">
      <table>
        <thead>
          <tr>
            <th scope="col">Where</th>
            <th scope="col">A</th>
            <th scope="col">B</th>
          </tr>
        </thead>
        <tbody>
          {differences.slice(0, MOST).map((one) => (
            <tr key={one.path}>
              <th scope="row">{visible(one.path)}</th>
              <td>
                {"old" in one ? <del>{json(one.old)}</del> : <span className={styles.nothing}>nothing</span>}
              </td>
              <td>
                {"new" in one ? <ins>{json(one.new)}</ins> : <span className={styles.nothing}>nothing</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {differences.length > MOST && <p>{differences.length - MOST} more are not shown.</p>}
    </section>
  );
}
