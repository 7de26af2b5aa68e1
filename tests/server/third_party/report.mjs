// Writes the results of the scenarios of a client to standard output, as one JSON object.

console.log = console.info = console.debug = console.warn = console.error;
globalThis.AI_SDK_LOG_WARNINGS = false;

/** The result of a call: its value, or the error that it throws. */
export async function attempt(call) {
  try {
    return { value: (await call()) ?? null };
  } catch (error) {
    const { name, message, status, statusCode, code, type, param } = error;
    return { name, message, status: status ?? statusCode ?? null, code, type, param };
  }
}

/** Run each scenario. For one that throws, the stack is reported. */
export async function report(scenarios) {
  const outcomes = {};
  for (const [name, run] of Object.entries(scenarios)) {
    try {
      outcomes[name] = await run();
    } catch (error) {
      outcomes[name] = { thrown: String(error?.stack ?? error) };
    }
  }
  process.stdout.write(JSON.stringify(outcomes), () => process.exit(0));
}
