import { type NextRequest, NextResponse } from "next/server";

/** Passes requests below /api to the server. Its address is read at run time, not when the app is built. */
export function proxy({ nextUrl }: NextRequest) {
  const server = process.env.SERVER_URL ?? "http://127.0.0.1:8000";
  return NextResponse.rewrite(new URL(nextUrl.pathname + nextUrl.search, server));
}

export const config = { matcher: "/api/:path*" };
