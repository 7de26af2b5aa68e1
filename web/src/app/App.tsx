import { lazy, Suspense } from "react";
import { Conversation } from "../conversation/Conversation";
import { Threads } from "../threads/Threads";
import { Boundary } from "../ui/Boundary";
import { type Place, usePlace } from "../ui/routing";
import { Empty, Failure, Loading } from "../ui/States";
import { Toasts } from "../ui/Toasts";
import { Guard } from "./Guard";
import { Shell } from "./Shell";

// Views that the first screen does not need are loaded on demand.
const NewChat = lazy(() => import("../chat/NewChat").then((it) => ({ default: it.NewChat })));
const Replay = lazy(() => import("../replay/Replay").then((it) => ({ default: it.Replay })));
const Compare = lazy(() => import("../compare/Compare").then((it) => ({ default: it.Compare })));
const Analytics = lazy(() => import("../analytics/Analytics").then((it) => ({ default: it.Analytics })));
const Convert = lazy(() => import("../convert/Convert").then((it) => ({ default: it.Convert })));

export function App() {
  const place = usePlace();
  const [first] = place.path;
  const withThreads = first === undefined || first === "t" || first === "new";
  return (
    <Guard>
      <Shell
        section={first ?? "threads"}
        sidebar={withThreads ? <Threads current={first === "t" ? place.path[1] : undefined} /> : undefined}
        detail={first !== undefined}
      >
        <Boundary value={place} fallback={(error) => <Failure error={error} />}>
          <Suspense fallback={<Loading />}>
            <View place={place} />
          </Suspense>
        </Boundary>
      </Shell>
      <Toasts />
    </Guard>
  );
}

function View({ place }: { place: Place }) {
  const [first, id] = place.path;
  switch (first) {
    case undefined:
      return <Empty title="Choose a thread">Press j and k to move through the list, / to search.</Empty>;
    case "t":
      return id ? (
        <Conversation key={id} threadId={id} message={place.query.get("m")} part={place.query.get("p")} />
      ) : null;
    case "new":
      return <NewChat />;
    case "run":
      return id ? <Replay key={id} runId={id} at={place.query.get("at")} /> : null;
    case "compare":
      return <Compare a={place.query.get("a")} b={place.query.get("b")} />;
    case "analytics":
      return <Analytics query={place.query} />;
    case "convert":
      return <Convert />;
    default:
      return <Empty title="Page not found">The address may be from another release.</Empty>;
  }
}
