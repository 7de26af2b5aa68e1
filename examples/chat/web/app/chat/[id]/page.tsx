import type { UIMessage } from "ai";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { Chat } from "../../chat";

const server = process.env.SERVER ?? "http://127.0.0.1:8000";

/** The messages of a chat of this browser as `useChat` wants them; none of one that is new. */
async function messagesOf(id: string): Promise<UIMessage[]> {
  const address = `${server}/api/threads/${id}/messages?format=ui&bare=true&limit=200`;
  const cookie = (await headers()).get("cookie") ?? "";
  const answer = await fetch(address, { cache: "no-store", headers: { cookie } });
  if (answer.status === 401) redirect("/");
  if (answer.status === 404) return [];
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <Chat key={id} id={id} before={await messagesOf(id)} />;
}
