/** What somebody pastes, and what the server makes of it. */
import type { Message } from "../partita.gen";
import { ask, getJson, type Listing } from "./client";

export interface FormatInfo {
  readonly name: string;
  readonly title: string;
  readonly reads: boolean;
  readonly writes: boolean;
  readonly streams: boolean;
  /** Whether it has room for what it has no place for. */
  readonly carries: boolean;
}

export interface FormatGuess {
  readonly format: string;
  readonly confidence: number;
  readonly why: string;
  /** What it could be nearly as well. */
  readonly rivals?: readonly FormatGuess[];
}

/** How bad a loss is. */
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
  readonly to?: string;
  readonly payload?: unknown;
  readonly errors?: readonly string[];
  readonly lost?: number;
  readonly problem?: { readonly what: string; readonly where?: string; readonly hint?: string };
}

/** How many bytes the server looks at. */
export const MOST_BYTES = 32 * 1024 * 1024;

export const listFormats = (signal?: AbortSignal): Promise<Listing<FormatInfo>> =>
  getJson("api/formats", {}, signal);

export async function inspect(
  text: string,
  { from, to, carry }: { from: string | null; to: string; carry: boolean },
  signal?: AbortSignal,
): Promise<Inspection> {
  const response = await ask("api/inspect", {
    method: "POST",
    query: { from, to, carry: carry ? "true" : null },
    headers: { "content-type": "application/octet-stream" },
    body: new Blob([text]),
    signal,
  });
  return (await response.json()) as Inspection;
}
