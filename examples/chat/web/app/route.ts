import { cookies } from "next/headers";
import { redirect } from "next/navigation";

/** Starts a new chat. The first visit of a browser also stores a random id in a cookie. */
export async function GET() {
  const stored = await cookies();
  if (!stored.has("visitor")) {
    const year = 365 * 24 * 60 * 60;
    stored.set("visitor", crypto.randomUUID(), { httpOnly: true, sameSite: "lax", maxAge: year });
  }
  redirect(`/chat/${crypto.randomUUID()}`);
}
