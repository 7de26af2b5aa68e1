/** The views by the first step of the route. Each is loaded when it is first needed. */
import { type ComponentType, lazy } from "react";

const LOADERS = {
  home: () => import("../home/Home").then((it) => it.Home),
  t: () => import("../conversation/Conversation").then((it) => it.Conversation),
  new: () => import("../chat/NewChat").then((it) => it.NewChat),
  run: () => import("../replay/Replay").then((it) => it.Replay),
  compare: () => import("../compare/Compare").then((it) => it.Compare),
  analytics: () => import("../analytics/Analytics").then((it) => it.Analytics),
  convert: () => import("../convert/Convert").then((it) => it.Convert),
  settings: () => import("../settings/Settings").then((it) => it.Settings),
};

const lazyView = <Props>(load: () => Promise<ComponentType<Props>>) =>
  lazy(() => load().then((view) => ({ default: view })));

export const Home = lazyView(LOADERS.home);
export const Conversation = lazyView(LOADERS.t);
export const NewChat = lazyView(LOADERS.new);
export const Replay = lazyView(LOADERS.run);
export const Compare = lazyView(LOADERS.compare);
export const Analytics = lazyView(LOADERS.analytics);
export const Convert = lazyView(LOADERS.convert);
export const Settings = lazyView(LOADERS.settings);

/** Loads the view of a route before it is rendered. */
export function preloadView(first = "home"): void {
  const name = first === "sessions" ? "home" : first;
  if (name in LOADERS) LOADERS[name as keyof typeof LOADERS]().catch(() => undefined); // reported when it is used
}
