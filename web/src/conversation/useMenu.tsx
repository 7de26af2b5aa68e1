/** What can be done with a whole session. */
import {
  ChartColumn,
  ChartSpline,
  CopyPlus,
  Eye,
  GitCompareArrows,
  Link2,
  Play,
  Search,
  Share2,
} from "lucide-react";
import { cloneThread } from "../api/messages";
import { go, href, toCompare, toRun, toThread } from "../ui/routing";
import { toast, toastError } from "../ui/Toasts";
import type { Above } from "./Conversation";
import type { MenuItem } from "./Menu";

interface Given {
  readonly threadId: string;
  /** The run of the chosen message, or the last one. */
  readonly runId: string | undefined;
  readonly internal: boolean;
  readonly setInternal: (internal: boolean) => void;
  readonly setAbove: (above: Above) => void;
}

export function useMenu({ threadId, runId, internal, setInternal, setAbove }: Given): readonly MenuItem[] {
  const copyLink = async () => {
    await navigator.clipboard.writeText(new URL(toThread(threadId), location.href).href);
    toast("The link is copied.");
  };
  const duplicate = async () => go(toThread((await cloneThread(threadId)).id));
  return [
    { label: "Share …", icon: <Share2 size={15} />, run: () => setAbove("share") },
    { label: "Copy a link", icon: <Link2 size={15} />, run: () => void copyLink().catch(toastError) },
    { label: "Find in this session", icon: <Search size={15} />, run: () => setAbove("find") },
    {
      label: "Replay the run",
      icon: <Play size={15} />,
      disabled: !runId,
      run: () => runId && go(toRun(runId)),
    },
    {
      label: "Compare the run",
      icon: <GitCompareArrows size={15} />,
      disabled: !runId,
      run: () => runId && go(toCompare(runId)),
    },
    { label: "Duplicate", icon: <CopyPlus size={15} />, run: () => void duplicate().catch(toastError) },
    { label: "Usage", icon: <ChartColumn size={15} />, run: () => setAbove("usage") },
    {
      label: "Growth of the context",
      icon: <ChartSpline size={15} />,
      run: () => go(href(["analytics"], { thread: threadId })),
    },
    {
      label: "Internal messages",
      icon: <Eye size={15} />,
      checked: internal,
      run: () => setInternal(!internal),
    },
  ];
}
