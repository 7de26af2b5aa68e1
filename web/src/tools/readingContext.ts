/** What has been fetched of a card's outputs, for those who draw them. */
import { createContext } from "react";
import type { BlobPiece } from "../viewing/viewing";

export interface Fetching {
  readonly firsts: ReadonlyMap<string, BlobPiece>;
  readonly error: unknown;
  readonly retry: () => void;
}

export const Beginnings = createContext<Fetching>({ firsts: new Map(), error: null, retry: () => {} });
