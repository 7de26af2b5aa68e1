import {
  Bot,
  Clock,
  Coins,
  FileDiff,
  GitCommitHorizontal,
  GitPullRequest,
  type LucideIcon,
  MessageSquare,
  SquareTerminal,
  TriangleAlert,
} from "lucide-react";
import { useMemo } from "react";
import type { ThreadOverview } from "../partita.gen";
import { count } from "../ui/format";
import { MenuButton, type MenuItem } from "../ui/Menu";
import { visible } from "../ui/sanitize";
import { type Entry, type Figure, figuresOf, type Place } from "./figures";
import styles from "./Summary.module.css";

interface Props {
  /** Undefined while it is loading: its space is reserved. */
  readonly overview: ThreadOverview | undefined;
  readonly onShow: (place: Place) => void;
  /** Shows the changed files with their lines. Without it they are listed. */
  readonly onFiles?: () => void;
  /** Shows the tokens and the cost; absent where they cannot be shown. */
  readonly onUsage?: () => void;
  /** On as many lines as it needs, instead of one that scrolls. */
  readonly wraps?: boolean;
}

const ICONS: Readonly<Record<Figure["name"], LucideIcon>> = {
  time: Clock,
  turns: MessageSquare,
  files: FileDiff,
  commands: SquareTerminal,
  failed: TriangleAlert,
  commits: GitCommitHorizontal,
  pulls: GitPullRequest,
  agents: Bot,
  usage: Coins,
};

/** What a click on a figure shows. */
const HINTS: Readonly<Partial<Record<Figure["name"], string>>> = {
  files: "Show the changed files (v)",
  usage: "Show the tokens and the cost",
};

/** More entries are not listed. */
const MAX_ENTRIES = 500;

/** The figures of a session. Each leads to what it counts. */
export function Summary({ overview, onShow, onFiles, onUsage, wraps = false }: Props) {
  const figures = useMemo(() => (overview ? figuresOf(overview) : []), [overview]);
  return (
    <ul className={styles.figures} aria-label="Summary" data-wraps={wraps}>
      {figures.map((figure, index) => (
        <li key={`${figure.name} ${index}`} data-figure={figure.name}>
          <FigureButton
            figure={figure}
            onShow={onShow}
            onClick={figure.name === "files" ? onFiles : figure.name === "usage" ? onUsage : undefined}
          />
        </li>
      ))}
    </ul>
  );
}

interface ButtonProps {
  readonly figure: Figure;
  readonly onShow: (place: Place) => void;
  readonly onClick: (() => void) | undefined;
}

function FigureButton({ figure, onShow, onClick }: ButtonProps) {
  const content = <Content figure={figure} />;
  if (onClick)
    return (
      <button type="button" className={styles.figure} title={HINTS[figure.name]} onClick={onClick}>
        {content}
      </button>
    );
  if (!figure.entries.length)
    return (
      <span className={styles.figure} title={figure.hint}>
        {content}
      </span>
    );
  return (
    <MenuButton label={figure.hint} items={itemsOf(figure.entries, onShow)} className={styles.figure} wide>
      {content}
    </MenuButton>
  );
}

function Content({ figure: { name, value, noun, added = 0, removed = 0 } }: { figure: Figure }) {
  const Icon = ICONS[name];
  return (
    <>
      <Icon size={14} aria-hidden />
      <span className={styles.value}>{value}</span> <span className={styles.noun}>{noun}</span>
      {added > 0 && <span className={styles.added}> +{count(added)}</span>}
      {removed > 0 && <span className={styles.removed}> −{count(removed)}</span>}
    </>
  );
}

function itemsOf(entries: readonly Entry[], onShow: (place: Place) => void): readonly MenuItem[] {
  const items: MenuItem[] = entries.slice(0, MAX_ENTRIES).map(({ title, code, note, place, url }) => ({
    label: (
      <>
        {title && <span className={styles.title}>{visible(title)}</span>}
        {code && <code className={styles.code}>{visible(code)}</code>}
      </>
    ),
    count: note,
    ...(url ? { href: url } : { run: () => onShow(place) }),
  }));
  if (entries.length <= MAX_ENTRIES) return items;
  return [...items, { label: `${count(entries.length - MAX_ENTRIES)} more`, disabled: true }];
}
