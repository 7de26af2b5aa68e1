/** The views by the first step of the route. Each is loaded when it is first needed. */
import { type ComponentType, lazy, useState } from "react";

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

type Name = keyof typeof LOADERS;

const loaded = new Map<Name, unknown>();

async function loadView(name: Name): Promise<unknown> {
  const view = await LOADERS[name]();
  loaded.set(name, view);
  return view;
}

/** A view that is rendered at once if it has been loaded: not even for a moment is something else in its place. */
function lazyView<Props extends object>(name: Name): ComponentType<Props> {
  const Lazy = lazy(async () => ({ default: (await loadView(name)) as ComponentType<Props> }));
  return function View(props: Props) {
    const [Chosen] = useState(() => (loaded.get(name) as ComponentType<Props> | undefined) ?? Lazy);
    return <Chosen {...props} />;
  };
}

type PropsOf<N extends Name> =
  Awaited<ReturnType<(typeof LOADERS)[N]>> extends ComponentType<infer P> ? P & object : never;

export const Home = lazyView<PropsOf<"home">>("home");
export const Conversation = lazyView<PropsOf<"t">>("t");
export const NewChat = lazyView<PropsOf<"new">>("new");
export const Replay = lazyView<PropsOf<"run">>("run");
export const Compare = lazyView<PropsOf<"compare">>("compare");
export const Analytics = lazyView<PropsOf<"analytics">>("analytics");
export const Convert = lazyView<PropsOf<"convert">>("convert");
export const Settings = lazyView<PropsOf<"settings">>("settings");

/** Loads the view of a route before it is rendered. It never rejects: an error is reported when the view is used. */
export async function preloadView(first = "home"): Promise<void> {
  const name = first === "sessions" ? "home" : first;
  if (name in LOADERS) await loadView(name as Name).catch(() => undefined);
}
