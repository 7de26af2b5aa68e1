import { type LucideIcon, Play, Search, Share2, SquareTerminal } from "lucide-react";
import { MenuButton, type MenuItem } from "../ui/Menu";
import { go, toRun } from "../ui/routing";
import styles from "./HeaderActions.module.css";

interface Props {
  /** The run that is replayed; absent if none is stored. */
  readonly runId: string | undefined;
  readonly onFind: () => void;
  readonly onShare: () => void;
  readonly resume: readonly MenuItem[];
  readonly more: readonly MenuItem[];
}

/** The actions of a session. They have words where there is room for them. */
export function HeaderActions({ runId, onFind, onShare, resume, more }: Props) {
  return (
    <>
      <Action icon={Search} word="Find" title="Find in this session (f)" onClick={onFind} />
      <Action
        icon={Play}
        word="Replay"
        title={runId ? "Replay the run" : "This session has no run that can be replayed"}
        disabled={!runId}
        onClick={() => runId && go(toRun(runId))}
      />
      <Action icon={Share2} word="Share" title="Share as a file" onClick={onShare} />
      <MenuButton label="Resume this session" items={resume} className={styles.action}>
        <SquareTerminal size={15} aria-hidden />
        <span>Resume</span>
      </MenuButton>
      <MenuButton label="More" items={more} className={styles.more} />
    </>
  );
}

interface ActionProps {
  readonly icon: LucideIcon;
  readonly word: string;
  readonly title: string;
  readonly disabled?: boolean;
  readonly onClick: () => void;
}

const Action = ({ icon: Icon, word, ...rest }: ActionProps) => (
  <button type="button" className={styles.action} {...rest}>
    <Icon size={15} aria-hidden />
    <span>{word}</span>
  </button>
);
