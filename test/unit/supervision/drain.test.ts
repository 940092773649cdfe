import test from 'ava';
import { drain, DRAIN_DEADLINE_MS, DRAIN_STEPS_MS, type DrainStep } from '../../../supervision/drain.ts';
import { createLog } from '../../../gateway/telemetry/log.ts';

/** A log whose lines are kept, and a step that ends when it is told to, or never. */
function world() {
  const lines: string[] = [],
    stopped: string[] = [];
  const log = createLog('info', 'test', {
    write: (line: string) => {
      lines.push(line);
    },
  });
  const step = (name: string, limitMs: number, stop: () => Promise<unknown>): DrainStep => ({
    name,
    limitMs,
    stop: () => {
      stopped.push(name);
      return stop();
    },
  });
  return { lines, stopped, log, step };
}
const never = () => new Promise(() => undefined);

test('issue 2.2 a drain takes its steps in order; one that fails or hangs is logged and left behind', async (t) => {
  const { lines, stopped, log, step } = world();
  await drain(
    [
      step('good', 1_000, async () => undefined),
      step('fails', 1_000, async () => {
        throw new Error('no');
      }),
      step('hangs', 20, never),
      step('last', 1_000, async () => undefined),
    ],
    log,
  );
  t.deepEqual(stopped, ['good', 'fails', 'hangs', 'last']);
  t.deepEqual(
    lines.map((line) => (JSON.parse(line) as { step: string; msg: string }).step),
    ['fails', 'hangs'],
  );
});

test('issue 2.2 the steps of a drain end before the deadline of the process, however long each may take and however many hang', async (t) => {
  t.true(DRAIN_STEPS_MS < DRAIN_DEADLINE_MS && DRAIN_DEADLINE_MS < 10_000);
  const { stopped, log, step } = world();
  // Each may take a minute; the last one, which closes the database, has its turn all the same.
  await drain(
    [
      ...Array.from({ length: 20 }, (_, n) => step(`hangs-${n}`, 60_000, never)),
      step('database', 60_000, async () => undefined),
    ],
    log,
    200,
  );
  t.is(stopped.length, 21);
});
