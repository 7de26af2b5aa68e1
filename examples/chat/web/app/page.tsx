import { redirect } from "next/navigation";
import { connection } from "next/server";

/** Every visit begins a chat of its own. */
export default async function Home() {
  await connection();
  redirect(`/chat/${crypto.randomUUID()}`);
}
