/** The menu items of a session that have no button of their own. */
import {
  ChartColumn,
  ChartSpline,
  CopyPlus,
  Eye,
  GitCompareArrows,
  Link2,
  StickyNote,
  Tag,
} from "lucide-react";
import { copyThread } from "../api/threads";
import type { MenuItem } from "../ui/Menu";
import { go, href, toCompare, toThread } from "../ui/routing";
import { toastError } from "../ui/Toasts";
import type { Panel } from "./Conversation";

interface Options {
  readonly threadId: string;
  readonly hasRun: boolean;
  /** The run of the message where the user is. */
  readonly currentRun: () => string | undefined;
  readonly copyLink: () => void;
  readonly internal: boolean;
  readonly setInternal: (internal: boolean) => void;
  readonly setPanel: (panel: Panel) => void;
}

export function useMenu(options: Options): readonly MenuItem[] {
  const { threadId, hasRun, currentRun, copyLink, internal, setInternal, setPanel } = options;
  const duplicate = async () => go(toThread((await copyThread(threadId)).id));
  return [
    { label: "Tags …", icon: <Tag size={15} />, run: () => setPanel("tags") },
    { label: "Note …", icon: <StickyNote size={15} />, run: () => setPanel("note") },
    { label: "Copy link", icon: <Link2 size={15} />, run: () => copyLink() },
    {
      label: "Compare the run",
      icon: <GitCompareArrows size={15} />,
      disabled: !hasRun,
      run: () => go(toCompare(currentRun())),
    },
    { label: "Duplicate", icon: <CopyPlus size={15} />, run: () => void duplicate().catch(toastError) },
    { label: "Usage", icon: <ChartColumn size={15} />, run: () => setPanel("usage") },
    {
      label: "Context growth",
      icon: <ChartSpline size={15} />,
      run: () => go(href(["analytics"], { thread: threadId, chart: "growth" })),
    },
    {
      label: "Show internal messages",
      icon: <Eye size={15} />,
      checked: internal,
      run: () => setInternal(!internal),
    },
  ];
}
