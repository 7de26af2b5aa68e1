import type { UIMessage } from "ai";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { Chat } from "../../chat";

/** The stored messages of a chat of this browser; an empty list for a new chat. */
async function loadMessages(id: string): Promise<UIMessage[]> {
  const server = process.env.SERVER_URL ?? "http://127.0.0.1:8000";
  const url = `${server}/api/threads/${id}/messages?format=ui&bare=true&limit=200`;
  const cookie = (await headers()).get("cookie") ?? "";
  const response = await fetch(url, { cache: "no-store", headers: { cookie } });
  if (response.status === 401) redirect("/");
  if (response.status === 404) return [];
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <Chat key={id} id={id} initialMessages={await loadMessages(id)} />;
}
