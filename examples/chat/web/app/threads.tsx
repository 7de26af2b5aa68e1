import Link from "next/link";
import { useEffect, useState } from "react";

interface Summary {
  thread: { id: string; title?: string };
  preview?: string;
  runStatus?: string;
}

/** The chats of this browser, reloaded whenever `changed` changes. */
export function Threads({ current, changed }: { current: string; changed: string }) {
  const [chats, setChats] = useState<Summary[]>([]);

  useEffect(() => {
    fetch("/api/summaries")
      .then((response) => response.json())
      .then(({ items }: { items?: Summary[] }) => setChats(items ?? []));
  }, [changed]);

  return (
    <nav>
      <a className="new" href="/">
        New chat
      </a>
      {chats.map(({ thread, preview, runStatus }) => (
        <Link
          key={thread.id}
          href={`/chat/${thread.id}`}
          prefetch={false}
          aria-current={thread.id === current ? "page" : undefined}
        >
          {thread.title ?? preview ?? thread.id}
          {runStatus === "running" && " …"}
        </Link>
      ))}
    </nav>
  );
}
