/**
 * P10: how long the first write to an account takes after its owner was killed, and the longest while its owner stops,
 * with the default lease and with the shortest that a node takes.
 */
import type { Figure } from './figure.ts';
import { withNodes, type Nodes } from './nodes.ts';

const LEASES = [10, 3];
const TRIES = 3;
const NODES = 3;
/** A write while the owner stops, milliseconds. */
const STOP_MS = 1_000;
const emit = (figure: Figure): void => console.log(JSON.stringify(figure));

/** The first write to an account after its owner is gone, asked of another node. */
async function takeover(nodes: Nodes, keys: readonly string[], leaseSeconds: number): Promise<void> {
  const [killed, stopped]: [number[], number[]] = [[], []];
  for (const [signal, tookMs] of [
    ['SIGKILL', killed],
    ['SIGTERM', stopped],
  ] as const) {
    for (let n = 0; n < TRIES; n += 1) {
      await nodes.toBe(NODES);
      const owners = await Promise.all(keys.map((key) => nodes.ownerOf(key)));
      const at = owners.findIndex((owner) => owner !== 'cloud-1');
      const { child } = nodes.places.get(owners[at]!)!,
        asked = nodes.places.get('cloud-1')!.origin;
      await nodes.post(asked, keys[at]!);
      child.kill(signal);
      nodes.places.delete(owners[at]!);
      // After SIGTERM the owner answers until it has handed over: the longest pause counts.
      let longestMs = await nodes.post(asked, keys[at]!);
      for (let over = false; signal === 'SIGTERM' && !over;) {
        longestMs = Math.max(longestMs, await nodes.post(asked, keys[at]!));
        over =
          (await Promise.race([child.exited, new Promise((resolve) => setImmediate(resolve)).then(() => 'runs')])) !==
          'runs';
      }
      tookMs.push(longestMs);
      await child.exited;
    }
  }
  const figure = (id: string, what: string, samples: readonly number[], limitMs: number): Figure => ({
    id: `${id}-${leaseSeconds}`,
    what,
    ours: Math.max(...samples),
    limit: limitMs,
    unit: 'ms',
    better: 'lower',
    goal: 1,
    note: `worst of ${TRIES}: ${samples.map(Math.round).join(', ')} ms; asked of another node; the limit is the goal`,
  });
  emit(
    figure(
      'P10a',
      `first write after \`kill -9\` of the owner, lease ${leaseSeconds} s`,
      killed,
      (leaseSeconds + 2) * 1_000,
    ),
  );
  emit(figure('P10b', `longest write while the owner stops, lease ${leaseSeconds} s`, stopped, STOP_MS));
}

for (const leaseSeconds of LEASES)
  await withNodes(leaseSeconds, async ({ nodes, keys }) => takeover(nodes, keys, leaseSeconds));
