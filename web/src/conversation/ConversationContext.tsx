import { type ReactNode, useMemo } from "react";
import { factsOf, SessionFactsProvider } from "../context/sessionFacts";
import type { ThreadOverview } from "../partita.gen";
import { FoldAll } from "../ui/Fold";

interface Props {
  readonly folds: { readonly open: boolean } | null;
  readonly overview: ThreadOverview | undefined;
  readonly children: ReactNode;
}

/** What everything in a conversation needs: whether all folds are open, and the files and commits of the session. */
export function ConversationContext({ folds, overview, children }: Props) {
  const facts = useMemo(() => factsOf(overview), [overview]);
  return (
    <FoldAll.Provider value={folds}>
      <SessionFactsProvider value={facts}>{children}</SessionFactsProvider>
    </FoldAll.Provider>
  );
}
