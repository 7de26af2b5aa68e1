import { memo, type ReactNode } from "react";
import type { Difference, PartDiff, Piece, ShownPart } from "../api/runs";
import { duration } from "../ui/format";
import { visible } from "../ui/sanitize";
import { contentsOf, formatJson } from "./format";
import styles from "./PartRow.module.css";
import { areSimilar, piecesOf, textOf } from "./wordDiff";

const MARKS = {
  same: ["=", "equal"],
  changed: ["≠", "changed"],
  removed: ["−", "only in A"],
  added: ["＋", "only in B"],
} as const;

/** A part of one run beside the part of the other. */
export const PartRow = memo(function PartRow({ part, number }: { part: PartDiff; number?: number }) {
  const [mark, label] = MARKS[part.kind];
  return (
    <article
      className={styles.row}
      data-kind={part.kind}
      data-difference={number}
      tabIndex={number === undefined ? undefined : -1}
      aria-label={`${part.label}, ${label}`}
    >
      <header className={styles.head}>
        <span className={styles.mark} aria-hidden>
          {mark}
        </span>
        <strong>{visible(part.label)}</strong>
        <span className={styles.kind}>{label}</span>
        <Seconds seconds={part.seconds} />
      </header>
      <Body part={part} />
    </article>
  );
});

function Seconds({ seconds }: { seconds: PartDiff["seconds"] }) {
  if (!seconds) return null;
  const durations = (["a", "b"] as const).flatMap((side) =>
    seconds[side] === undefined ? [] : [duration(seconds[side])],
  );
  return <span className={styles.seconds}>{durations.join(" → ")}</span>;
}

function Body({ part }: { part: PartDiff }) {
  if (part.kind === "same") return part.a ? <WholePart part={part.a} /> : null;
  if (part.kind !== "changed") {
    const own = part.a ?? part.b;
    return own ? (
      <div className={styles.sides}>
        <div>{part.a && <WholePart part={part.a} side="a" />}</div>
        <div>{part.b && <WholePart part={part.b} side="b" />}</div>
      </div>
    ) : null;
  }
  return (
    <>
      {part.differences && part.differences.length > 0 && <ValueDiff differences={part.differences} />}
      {part.words && part.words.length > 0 && <Texts words={part.words} />}
    </>
  );
}

/** Two texts with the words that differ; if they have little in common, as a whole. */
function Texts({ words }: { words: readonly Piece[] }) {
  const sides = ["a", "b"] as const;
  return (
    <div className={styles.sides}>
      {sides.map((side) =>
        areSimilar(words) ? (
          <TextDiff key={side} side={side} words={words} />
        ) : (
          <div key={side} className={styles.piece} data-side={side}>
            <Text>{visible(textOf(side, words))}</Text>
          </div>
        ),
      )}
    </div>
  );
}

function WholePart({ part, side }: { part: ShownPart; side?: "a" | "b" }) {
  return contentsOf(part).map(({ name, text }) => (
    <div key={name} className={styles.piece} data-side={side}>
      {name && <p className={styles.name}>{name}</p>}
      <Text>{text}</Text>
    </div>
  ));
}

function Text({ children }: { children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <pre className={styles.text} tabIndex={0}>
      {children}
    </pre>
  );
}

/** One side of a text, with the words marked that the other side does not have. */
function TextDiff({ side, words }: { side: "a" | "b"; words: readonly Piece[] }) {
  return (
    <Text>
      {piecesOf(side, words).map((piece, index) => {
        if (piece.mark === "=") return <span key={index}>{visible(piece.text)}</span>;
        const Tag = piece.mark === "-" ? "del" : "ins";
        return <Tag key={index}>{visible(piece.text)}</Tag>;
      })}
    </Text>
  );
}

const MAX_ROWS = 200;

/** The differences of two JSON values by path. */
function ValueDiff({ differences }: { differences: readonly Difference[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section className={styles.paths} tabIndex={0} aria-label="Value differences">
      <table>
        <thead>
          <tr>
            <th scope="col">Path</th>
            <th scope="col">A</th>
            <th scope="col">B</th>
          </tr>
        </thead>
        <tbody>
          {differences.slice(0, MAX_ROWS).map((one) => (
            <tr key={one.path}>
              <th scope="row">{visible(one.path)}</th>
              <td>
                {"old" in one ? <del>{formatJson(one.old)}</del> : <span className={styles.none}>none</span>}
              </td>
              <td>
                {"new" in one ? <ins>{formatJson(one.new)}</ins> : <span className={styles.none}>none</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {differences.length > MAX_ROWS && <p>{differences.length - MAX_ROWS} more are not shown.</p>}
    </section>
  );
}
