/** A bridge transfer of which cloud and edge are killed at every place that it passes. Treasury A14, H5. */
import test from 'ava';
import { openBridgeWorld, type BridgeWorld } from '../support/cctp/world.ts';
import { patiently } from '../support/patience.ts';

const THOUSAND = 1_000_000_000n;
const ROLES = ['approve', 'burn', 'mint'] as const;
const IN_CLOUD = [
  ...ROLES.slice(0, 2).flatMap((role) => [`cloud.bridge.${role}.built`, `cloud.bridge.${role}.signed`]),
  'cloud.bridge.burnt',
  'cloud.bridge.mint.built',
  'cloud.bridge.mint.signed',
  'cloud.bridge.minted',
];
const IN_EDGE = ROLES.flatMap(() => ['edge.operate.counted', 'edge.operate.journaled', 'edge.operate.recorded']);

/** Restarts a part once for each place, armed with it, and waits until it has died there. */
async function diesAt(
  world: BridgeWorld,
  part: 'cloud' | 'edge',
  places: readonly string[],
  id: string,
): Promise<void> {
  const { deployment } = world;
  const restart = async (armed: string): Promise<void> => {
    const env = { FLOCK_FAILPOINTS: armed === '' ? '' : `kill:${armed}:1` };
    await (part === 'cloud' ? deployment.restartCloud(env) : deployment.restartEdge(env));
  };
  deployment[part].kill('SIGKILL');
  await deployment[part].exited;
  for (const place of places) {
    await restart(place);
    let isDead = false;
    void deployment[part].exited.then(() => (isDead = true));
    await patiently(
      `${part} dies at ${place}`,
      async () => {
        if (!isDead) await world.step(id).catch(() => undefined);
        return isDead;
      },
      (dead) => dead,
    );
  }
  await restart('');
}

for (const [part, places] of [
  ['cloud', IN_CLOUD],
  ['edge', IN_EDGE],
] as const) {
  test(`treasury H5: the ${part} dies at every place of a transfer, and the money arrives once`, async (t) => {
    const world = await openBridgeWorld();
    t.teardown(() => world.close());
    const { client, from, to, treasury, sql } = world;
    await from.mint(treasury, 3n * THOUSAND);
    const { id: policyId } = await world.policy();
    const { id } = await client.must('createBridgeTransfer', { body: { policyId, amount: String(THOUSAND) } });
    await diesAt(world, part, places, id);
    const done = await world.reaches(id, 'it has arrived', ({ endedAt }) => endedAt !== null);
    t.like(done, { state: 'COMPLETED', received: String(THOUSAND) }, JSON.stringify(done));
    t.deepEqual([await from.balanceOf(treasury), await to.balanceOf(treasury)], [2n * THOUSAND, THOUSAND]);
    t.like(await client.must('getBridgePolicy', { params: { policyId } }), { inFlightCount: 0, inFlightValue: '0' });
    const told = await sql`select event from flock.publication where event like 'bridge%'`;
    t.deepEqual(
      told.map(({ event }) => event),
      ['bridge_completed'],
      'told once',
    );
  });
}
