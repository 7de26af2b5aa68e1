/** The menu that continues a session: in a terminal, in an editor, or here. */
import { Clipboard, FolderOpen, GitFork, MessageSquare } from "lucide-react";
import type { Thread, ThreadOverview } from "../partita.gen";
import { copyWithToast } from "../ui/clipboard";
import { useCommands } from "../ui/commands";
import type { MenuItem } from "../ui/Menu";
import { folderUrl } from "../ui/paths";
import { usePreference } from "../ui/preferences";
import { visible } from "../ui/sanitize";
import { noResumeReason, resumeLine } from "./resume";

interface Options {
  readonly thread: Thread | undefined;
  readonly overview: ThreadOverview | undefined;
  /** Messages can be written here. */
  readonly canWrite: boolean;
  readonly write: () => void;
  readonly fork: (messageId: string) => void;
}

export function useResume({ thread, overview, canWrite, write, fork }: Options): readonly MenuItem[] {
  const [editor] = usePreference("editor");
  const line = overview?.resume ? resumeLine(overview.resume) : null;
  const copy = () => line && void copyWithToast(line, "Command copied. Paste it in a terminal.");
  useCommands([{ what: "Copy the command to resume", group: "Session", run: copy }], line !== null);
  const folder = thread?.project ? folderUrl(editor, thread.project) : null;
  const last = thread?.activeLeafId;
  return [
    {
      label: "Copy “resume in terminal”",
      icon: <Clipboard size={15} />,
      description: line ? <code>{visible(line)}</code> : overview ? noResumeReason(thread) : "Loading …",
      disabled: line === null,
      run: copy,
    },
    {
      label: "Open the folder in the editor",
      icon: <FolderOpen size={15} />,
      description: visible(thread?.project ?? "The folder of this session is not known"),
      disabled: folder === null,
      href: folder ?? undefined,
    },
    ...(canWrite
      ? [{ label: "Continue here", icon: <MessageSquare size={15} />, run: write }]
      : last
        ? [{ label: "Fork and continue here", icon: <GitFork size={15} />, run: () => fork(last) }]
        : []),
  ];
}
