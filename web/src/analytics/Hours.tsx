import { useId, useMemo } from "react";
import type { Stat } from "../api/analytics";
import { count, plural } from "../ui/format";
import { type Cell, Cells, LEFT, LevelLegend } from "./charts/Cells";
import styles from "./charts/Cells.module.css";
import { Figure } from "./charts/Figure";
import { useWidth } from "./charts/useWidth";
import { useHours } from "./queries";
import { type Selection, toThreads } from "./selection";
import type { Column } from "./Table";

const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const HEIGHT = 17;

/** The messages of each hour of the week, as a heatmap. Every hour leads to its sessions. */
export function Hours({ selection }: { selection: Selection }) {
  const id = useId();
  const query = useHours(selection);
  const stats = useMemo(() => (query.data ?? []).filter(({ key }) => key[0]), [query.data]);
  const hours = new Map(stats.map((stat) => [stat.key[0] ?? "", stat]));
  const hrefOf = (stat: Stat) => toThreads({ ...selection.filters, ids: stat.threadIds });
  const cellOf = (day: number, hour: number): Cell => {
    const stat = hours.get(keyOf(day, hour));
    return {
      label: nameOf(day, hour),
      value: stat?.messages ?? 0,
      text: stat ? `${plural(stat.messages, "message")}, ${plural(stat.threads, "session")}` : "no messages",
      href: stat && hrefOf(stat),
    };
  };
  const busiest = stats.reduce<Stat | undefined>(
    (best, stat) => (best && best.messages >= stat.messages ? best : stat),
    undefined,
  );
  const summary = busiest
    ? `Most: ${plural(busiest.messages, "message")} (${nameOfKey(busiest.key[0] ?? "")}).`
    : "No messages in this period.";
  const columns: Column<Stat>[] = [
    { label: "Hour", value: (stat) => nameOfKey(stat.key[0] ?? ""), href: hrefOf },
    { label: "Messages", value: (stat) => stat.messages, text: (stat) => count(stat.messages), number: true },
    { label: "Sessions", value: (stat) => stat.threads, text: (stat) => count(stat.threads), number: true },
  ];
  return (
    <Figure
      id={id}
      title="Messages by hour"
      level={3}
      summary={summary}
      isLoading={query.isPending}
      legend={<LevelLegend />}
      columns={columns}
      rows={stats}
      keyOf={(stat) => stat.key[0] ?? ""}
    >
      <Week summary={`Messages by hour. ${summary}`} cellOf={cellOf} />
    </Figure>
  );
}

function Week({ summary, cellOf }: { summary: string; cellOf: (day: number, hour: number) => Cell }) {
  const [container, width] = useWidth<HTMLDivElement>();
  return (
    <div ref={container} className={styles.cells}>
      {width > 0 && (
        <Cells
          name="Messages by hour"
          summary={summary}
          rows={DAYS.map((_, day) => HOURS.map((hour) => cellOf(day, hour)))}
          rowLabels={DAYS.map((day) => day.slice(0, 3))}
          columnLabels={HOURS.map((hour) => (hour % 6 ? "" : clockOf(hour)))}
          width={width}
          pitch={[(width - LEFT) / HOURS.length, HEIGHT]}
        />
      )}
    </div>
  );
}

/** `1-09` is Monday at nine. */
const keyOf = (day: number, hour: number): string => `${day + 1}-${String(hour).padStart(2, "0")}`;
const clockOf = (hour: number): string => `${String(hour).padStart(2, "0")}:00`;
const nameOf = (day: number, hour: number): string => `${DAYS[day]}, ${clockOf(hour)}`;

function nameOfKey(key: string): string {
  const [day = 1, hour = 0] = key.split("-").map(Number);
  return nameOf(day - 1, hour);
}
