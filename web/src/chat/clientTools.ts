/** The client-side tools of the page. */

const TOOLS: Readonly<Record<string, () => unknown>> = {
  get_local_time: () => ({
    time: new Date().toString(),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  }),
};

export const isClientTool = (name: string): boolean => Object.hasOwn(TOOLS, name);

export const runClientTool = (name: string): unknown => TOOLS[name]?.();
