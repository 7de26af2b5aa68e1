import { useEffect } from "react";
import { recordOpened } from "../home/opened";
import { Threads } from "../threads/Threads";
import { Boundary } from "../ui/Boundary";
import { type Place, usePlace } from "../ui/routing";
import { Empty, Failure } from "../ui/States";
import { Toasts } from "../ui/Toasts";
import { useTitle } from "../ui/useTitle";
import { Guard } from "./Guard";
import { Shell } from "./Shell";
import {
  Analytics,
  Compare,
  Conversation,
  Convert,
  Home,
  NewChat,
  preloadView,
  Replay,
  Settings,
} from "./views";

export function App() {
  const place = usePlace();
  const [first, id] = place.path;
  const withThreads = first === undefined || first === "sessions" || first === "t" || first === "new";
  // On a narrow screen, Home and the list are two sections. An address with filters shows the list.
  const isList = first === "sessions" || (first === undefined && place.query.size > 0);
  useEffect(() => {
    if (first === "t" && id) recordOpened(id);
  }, [first, id]);
  return (
    <Guard>
      <Shell
        section={isList ? "sessions" : (first ?? "home")}
        sidebar={withThreads ? <Threads current={first === "t" ? id : undefined} /> : undefined}
        detail={!isList}
      >
        <Boundary value={place} fallback={(error) => <Failure error={error} />}>
          <View place={place} />
        </Boundary>
      </Shell>
      <Toasts />
    </Guard>
  );
}

const prepareSession = () => preloadView("t");

function View({ place }: { place: Place }) {
  const [first, id] = place.path;
  switch (first) {
    case undefined:
    case "sessions":
      return <Home />;
    case "t":
      return id ? (
        <Conversation
          key={id}
          threadId={id}
          message={place.query.get("m")}
          part={place.query.get("p")}
          query={place.query.get("q")}
          isFiles={place.query.get("view") === "files"}
          file={place.query.get("f")}
        />
      ) : null;
    case "new":
      return <NewChat prepare={prepareSession} />;
    case "run":
      return id ? <Replay key={id} runId={id} at={place.query.get("at")} /> : null;
    case "compare":
      return <Compare a={place.query.get("a")} b={place.query.get("b")} />;
    case "analytics":
      return <Analytics query={place.query} />;
    case "convert":
      return <Convert />;
    case "settings":
      return <Settings section={id} />;
    default:
      return <NotFound />;
  }
}

function NotFound() {
  useTitle("Page not found");
  return <Empty title="Page not found">The address may be from another release.</Empty>;
}
