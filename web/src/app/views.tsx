/** The views by the first step of the route. Each is loaded when it is first needed. */
import { lazyComponent } from "../ui/lazyModule";
import { Loading } from "../ui/States";

const LOADING = <Loading />;

export const Home = lazyComponent(() => import("../home/Home").then((it) => it.Home), LOADING);
export const Conversation = lazyComponent(
  () => import("../conversation/Conversation").then((it) => it.Conversation),
  LOADING,
);
export const NewChat = lazyComponent(() => import("../chat/NewChat").then((it) => it.NewChat), LOADING);
export const Replay = lazyComponent(() => import("../replay/Replay").then((it) => it.Replay), LOADING);
export const Compare = lazyComponent(() => import("../compare/Compare").then((it) => it.Compare), LOADING);
export const Analytics = lazyComponent(
  () => import("../analytics/Analytics").then((it) => it.Analytics),
  LOADING,
);
export const Convert = lazyComponent(() => import("../convert/Convert").then((it) => it.Convert), LOADING);
export const Settings = lazyComponent(
  () => import("../settings/Settings").then((it) => it.Settings),
  LOADING,
);

const BY_STEP: Readonly<Record<string, { readonly preload: () => Promise<void> }>> = {
  home: Home,
  sessions: Home,
  t: Conversation,
  new: NewChat,
  run: Replay,
  compare: Compare,
  analytics: Analytics,
  convert: Convert,
  settings: Settings,
};

/** Loads the view of a route before it is rendered. */
export const preloadView = async (first = "home"): Promise<void> => BY_STEP[first]?.preload();
