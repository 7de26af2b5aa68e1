// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import { type ComponentType, createElement } from "react";
import { afterEach, expect, it, vi } from "vitest";
import { Boundary } from "../../src/ui/Boundary";
import { lazyComponent, lazyModule } from "../../src/ui/lazyModule";

const Lamp = ({ name }: { name: string }) => createElement("p", null, `A lamp named ${name}`);

afterEach(cleanup);

it("displays a component as soon as it has loaded", async () => {
  let finish: (loaded: typeof Lamp) => void = () => undefined;
  const load = vi.fn(
    () =>
      new Promise<typeof Lamp>((resolve) => {
        finish = resolve;
      }),
  );
  const Lazy: ComponentType<{ name: string }> = lazyComponent(load, createElement("p", null, "Loading"));
  render(createElement(Lazy, { name: "Fresnel" }));
  expect(screen.getByText("Loading")).toBeTruthy();
  await act(async () => finish(Lamp));
  expect(screen.getByText("A lamp named Fresnel")).toBeTruthy(); // without a timer
  expect(load).toHaveBeenCalledTimes(1);
});

it("displays a component at once that was loaded before", async () => {
  const Lazy = lazyComponent(async () => Lamp);
  await Lazy.preload();
  render(createElement(Lazy, { name: "Argand" }));
  expect(screen.getByText("A lamp named Argand")).toBeTruthy();
});

it("throws the error of a module that is needed, and loads it again for the next component", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const load = vi.fn<() => Promise<typeof Lamp>>().mockRejectedValueOnce(new Error("offline"));
  load.mockResolvedValue(Lamp);
  const Lazy = lazyComponent(load);
  const fallback = (error: unknown) => createElement("p", null, String(error));
  const shown = (value: number) =>
    createElement(Boundary, { value, fallback, children: createElement(Lazy, { name: "Argand" }) });
  const { rerender } = render(shown(1));
  await act(async () => undefined);
  expect(screen.getByText("Error: offline")).toBeTruthy();
  rerender(shown(2));
  await act(async () => undefined);
  expect(screen.getByText("A lamp named Argand")).toBeTruthy();
});

it("does not load a module that is not needed, nor throw its error", async () => {
  const load = vi.fn(async (): Promise<string> => Promise.reject(new Error("offline")));
  const { use, preload } = lazyModule(load);
  const Shown = ({ isNeeded }: { isNeeded: boolean }) => createElement("p", null, use(isNeeded) ?? "nothing");
  render(createElement(Shown, { isNeeded: false }));
  expect(load).not.toHaveBeenCalled();
  await act(preload);
  expect(screen.getByText("nothing")).toBeTruthy();
});
