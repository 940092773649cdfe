/** Runs cases of the behaviour suite with `flock-client` as it is installed here: a JSON line in, a JSON line out. */
import { createInterface } from 'node:readline';
import { inspect } from 'node:util';

const NOW = 1_700_000_000_000;
const ABORT_AFTER_MS = 30;
/** What no JSON has. */
const STAND_FOR = { $lone: 'a\ud800b', $nan: NaN };

const entry = (run, name) =>
  import(
    run.client === undefined ? `flock-client${name === 'index' ? '' : `/${name}`}` : `${run.client}/dist/${name}.js`
  );

for await (const line of createInterface({ input: process.stdin })) {
  const run = JSON.parse(line, (_, value) => (Object.hasOwn(STAND_FOR, value) ? STAND_FOR[value] : value));
  const result = await resultOf(run).catch((error) => ({ crashed: String(error.stack) }));
  process.stdout.write(`${JSON.stringify({ n: run.n, ...result })}\n`);
}

function resultOf(run) {
  if (run.case.verify !== undefined) return verified(run, run.case.verify);
  if (run.case.units !== undefined) return converted(run, run.case.units);
  return called(run, run.case);
}

async function verified(run, { body, headers, secrets, options, as }) {
  const { verifyWebhook, creditKey } = await entry(run, 'webhooks');
  const given = as === 'parsed' ? JSON.parse(body) : as === 'bytes' ? new TextEncoder().encode(body) : body;
  const verdict = await verifyWebhook(given, headers, secrets, options);
  if (!verdict.ok) return { reason: verdict.reason };
  const key = verdict.event.data.txid === undefined ? {} : { creditKey: creditKey(verdict.event) };
  return { event: verdict.event, ...key };
}

async function converted(run, { to, from }) {
  const { toUnits, fromUnits } = await entry(run, 'units');
  try {
    return { value: to === undefined ? fromUnits(...from) : String(toUnits(...to)) };
  } catch (error) {
    return error instanceof RangeError ? { refused: true } : { crashed: String(error) };
  }
}

async function called(run, { call, options = {}, random = 0, calls = 1 }) {
  const { createFlock, isFlockError } = await entry(run, 'index');
  const waits = [];
  const stop = new AbortController();
  const result = {};
  let passedMs = 0;
  let abortedAt;
  const abort = () => {
    abortedAt = performance.now();
    stop.abort();
  };
  const clock = {
    now: () => NOW + passedMs,
    random: () => random,
    sleep: async (ms) => {
      waits.push(ms);
      passedMs += ms;
      if (call.abort === 'pause') abort();
    },
  };
  const { basePath = '', ...own } = options;
  const settings = { baseUrl: `${run.base}${basePath}`, apiKey: `loc_test_${'a'.repeat(39)}`, clock, ...own };
  for (const [name, value] of Object.entries(settings)) if (value === null) delete settings[name];
  try {
    const flock = createFlock(settings);
    const { args } = call;
    const how = { signal: stop.signal };
    for (const name of ['idempotencyKey', 'timeoutMs']) if (call[name] !== undefined) how[name] = call[name];
    if (call.abort === 'before') abort();
    if (call.abort === 'request') setTimeout(abort, call.abortAfterMs ?? ABORT_AFTER_MS);
    if (call.all === true) {
      result.items = [];
      for await (const row of flock[call.operation].all(args, how)) {
        result.items.push(row);
        if (result.items.length === call.take) break;
      }
    } else for (let n = 0; n < calls; n += 1) result.value = await flock[call.operation](args, how);
    result.shown = inspect(flock, { depth: 9 }) + JSON.stringify(flock);
  } catch (error) {
    if (abortedAt !== undefined) result.abortedWithinMs = performance.now() - abortedAt;
    if (!isFlockError(error)) throw error;
    result.error = error.toJSON();
    result.shown = [
      String(error),
      error.stack,
      inspect(error, { depth: 9, showHidden: true }),
      JSON.stringify(error),
    ].join();
  }
  return { ...result, waits };
}
