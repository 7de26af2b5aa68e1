/** The run that is replayed and compared: that of the selected message, or else the newest one. */
import { useQuery } from "@tanstack/react-query";
import { listRuns } from "../api/runs";

export function useRunId(threadId: string, known: string | undefined): string | undefined {
  const { data: newest } = useQuery({
    queryKey: ["newest run", threadId],
    enabled: known === undefined,
    queryFn: async ({ signal }) => (await listRuns({ threadId, limit: 1 }, signal)).items[0] ?? null,
  });
  return known ?? newest?.id;
}
