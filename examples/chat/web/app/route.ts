import { cookies } from "next/headers";
import { redirect } from "next/navigation";

/** Every visit begins a chat of its own. The first visit of a browser gives it an id, which it keeps. */
export async function GET() {
  const kept = await cookies();
  if (!kept.has("visitor")) {
    const year = 365 * 24 * 60 * 60;
    kept.set("visitor", crypto.randomUUID(), { httpOnly: true, sameSite: "lax", maxAge: year });
  }
  redirect(`/chat/${crypto.randomUUID()}`);
}
