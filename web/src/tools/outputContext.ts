/** The loaded outputs of a card, for the components that display them. */
import { createContext } from "react";
import type { BlobPiece } from "../context/renderContext";

interface LoadedOutputs {
  readonly firstPieces: ReadonlyMap<string, BlobPiece>;
  readonly error: unknown;
  readonly retry: () => void;
}

export const OutputContext = createContext<LoadedOutputs>({
  firstPieces: new Map(),
  error: null,
  retry: () => {},
});
