/** The newest run of a thread. It is requested if it is not `known` from the last messages. */
import { useQuery } from "@tanstack/react-query";
import { listRuns } from "../api/runs";

export function useNewestRun(threadId: string, known: string | undefined): string | undefined {
  const { data: newest } = useQuery({
    queryKey: ["newest run", threadId],
    enabled: known === undefined,
    queryFn: async ({ signal }) => (await listRuns({ threadId, limit: 1 }, signal)).items[0] ?? null,
  });
  return known ?? newest?.id;
}
