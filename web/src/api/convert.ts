/** Inspection and conversion of pasted text. */
import type { Message, PartView } from "../partita.gen";
import { getJson, type Listing, request } from "./client";

export interface FormatInfo {
  readonly name: string;
  readonly title: string;
  readonly reads: boolean;
  readonly writes: boolean;
  readonly streams: boolean;
  /** Whether the format can embed what it cannot represent. */
  readonly carries: boolean;
}

export interface FormatGuess {
  readonly format: string;
  readonly confidence: number;
  readonly why: string;
  /** Other formats that are almost as likely. */
  readonly rivals?: readonly FormatGuess[];
}

export type Severity = "lost" | "changed" | "repaired" | "minor";

export interface InspectedLoss {
  readonly path: string;
  readonly what: string;
  readonly why: string;
  readonly severity: Severity;
  readonly side: "reading" | "writing";
}

export interface InspectionNote {
  readonly what: string;
  readonly times?: number;
  readonly path?: string;
  readonly lines?: readonly number[];
  readonly detail?: string;
}

export interface Inspection {
  readonly bytes: number;
  readonly guesses: readonly FormatGuess[];
  readonly losses: readonly InspectedLoss[];
  readonly notes: readonly InspectionNote[];
  readonly shape?: "document" | "lines" | "events" | "data-stream-v4" | "text";
  readonly values?: number;
  readonly from?: string;
  readonly kind?: "messages" | "stream" | "log";
  readonly messages?: readonly Message[];
  /** For each message: the views of its tool calls, by JSON Pointer into the message. */
  readonly views?: readonly Readonly<Record<string, PartView>>[];
  readonly to?: string;
  readonly payload?: unknown;
  readonly errors?: readonly string[];
  readonly lost?: number;
  readonly problem?: { readonly what: string; readonly where?: string; readonly hint?: string };
}

/** The size limit of the server. */
export const MAX_BYTES = 32 * 1024 * 1024;

export const listFormats = (signal?: AbortSignal): Promise<Listing<FormatInfo>> =>
  getJson("api/formats", {}, signal);

export async function inspect(
  text: string,
  { from, to, carry }: { from: string | null; to: string; carry: boolean },
  signal?: AbortSignal,
): Promise<Inspection> {
  const response = await request("api/inspect", {
    method: "POST",
    query: { from, to, carry: carry ? "true" : null, views: "true" },
    headers: { "content-type": "application/octet-stream" },
    body: new Blob([text]),
    signal,
  });
  return (await response.json()) as Inspection;
}
