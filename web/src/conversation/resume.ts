/** The command that continues a session in a terminal. */
import type { ResumeCommand, Thread } from "../partita.gen";
import { agentName } from "../ui/AgentMark";

/** The command as one line, in its folder. */
export const resumeLine = ({ command, directory }: ResumeCommand): string =>
  directory ? `cd ${quoted(directory)} && ${command}` : command;

/** A path as a word of a shell. Windows has other quotes, and no escapes. */
function quoted(path: string): string {
  if (/^[A-Za-z]:\\|^\\\\/.test(path)) return /^[\w:\\.-]+$/.test(path) ? path : `"${path}"`;
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Why a session cannot be continued in a terminal. */
export function noResumeReason(thread: Thread | undefined): string {
  if (thread?.metadata?.parentThreadId) return "Sessions of sub-agents cannot be resumed";
  if (!thread?.agent || typeof thread.metadata?.sessionId !== "string")
    return "It was not recorded from an agent in a terminal";
  return `${agentName(thread.agent)} has no command that resumes a session`;
}
