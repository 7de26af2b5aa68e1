import { type LucideIcon, Play, Search, Share2, SquareTerminal } from "lucide-react";
import { MenuButton, type MenuItem } from "../ui/Menu";
import styles from "./HeaderActions.module.css";

interface Props {
  /** Replays the run of the message where the user is; absent if no run is stored. */
  readonly onReplay: (() => void) | undefined;
  readonly onFind: () => void;
  readonly onShare: () => void;
  readonly resume: readonly MenuItem[];
  readonly more: readonly MenuItem[];
}

/** The actions of a session. They have words where there is room for them. */
export function HeaderActions({ onReplay, onFind, onShare, resume, more }: Props) {
  return (
    <>
      <Action icon={Search} word="Find" title="Find in this session (f)" onClick={onFind} />
      <Action
        icon={Play}
        word="Replay"
        title={onReplay ? "Replay the run of this turn" : "This session has no run that can be replayed"}
        disabled={!onReplay}
        onClick={onReplay}
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
  readonly onClick: (() => void) | undefined;
}

const Action = ({ icon: Icon, word, ...rest }: ActionProps) => (
  <button type="button" className={styles.action} {...rest}>
    <Icon size={15} aria-hidden />
    <span>{word}</span>
  </button>
);
