/** Which nodes may join a cluster, on real SQL. */
import test from 'ava';
import { joinCluster, type Joining } from '../../../cluster/join.ts';
import { createClusterStore } from '../../../persistence/postgres/cluster-store.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

let database: TestDatabase;
test.before(async () => {
  database = await createTestDatabase();
});
test.after.always(() => database.close());

const OLD = 'o'.repeat(40),
  NEW = 'n'.repeat(40);
let made = 0;

function joining(more: Partial<Joining> = {}): Joining {
  made += 1;
  return {
    store: createClusterStore(database.sql),
    nodeId: `node-${made}`,
    url: `http://node-${made}`,
    about: { version: '1.0.0', protocol: 1, roles: ['gateway'], chains: [] },
    secrets: [OLD],
    leaseSeconds: 10,
    newId: () => `id-${made}`,
    nowMs: Date.now,
    ...more,
  };
}
const members = async (): Promise<string[]> =>
  (await createClusterStore(database.sql).beat('reader', 10)).members
    .map(({ id }) => id)
    .filter((id) => id !== 'reader');

test.serial('nodes of one secret join; another secret is refused, and nothing of it is kept', async (t) => {
  await joinCluster(joining({ nodeId: 'first' }));
  await t.throwsAsync(joinCluster(joining({ nodeId: 'stranger', secrets: [NEW] })), {
    code: 'cluster_secret_other',
    message: /CLUSTER_SECRET: .*start each node with "new,old"/,
  });
  t.deepEqual(await members(), ['first']);
});

test.serial('a secret is replaced node by node', async (t) => {
  await joinCluster(joining({ nodeId: 'both', secrets: [NEW, OLD] }));
  await joinCluster(joining({ nodeId: 'new', secrets: [NEW] }));
  await t.throwsAsync(joinCluster(joining({ secrets: [OLD] })), { code: 'cluster_secret_other' });
  await joinCluster(joining({ nodeId: 'back', secrets: [OLD, NEW] }));
  t.pass();
});

test.serial('a clock that is more than 5 s off does not join, and its row is gone', async (t) => {
  const secrets = [OLD, NEW];
  for (const offMs of [-60_000, 60_000]) {
    const nodeId = `off ${offMs}`;
    await t.throwsAsync(joinCluster(joining({ nodeId, secrets, nowMs: () => Date.now() + offMs })), {
      code: 'cluster_clock_off',
      message: new RegExp(`(59|60) s ${offMs > 0 ? 'ahead of' : 'behind'} the database's`),
    });
    t.false((await members()).includes(nodeId));
  }
});

test.serial('a node does not join one that speaks messages it does not know, and names it', async (t) => {
  const strange = joining({ nodeId: 'later', secrets: [OLD, NEW] });
  await strange.store.join('later', 'http://later', { version: '9.0.0', protocol: 99, roles: [], chains: [] }, [
    ...(await database.admin<{ proof: string }[]>`select proof from flock.cluster`).map(({ proof }) => proof),
  ]);
  await t.throwsAsync(joinCluster(joining({ nodeId: 'now', secrets: [OLD, NEW] })), {
    code: 'cluster_protocol_unknown',
    message: /node later \(version 9\.0\.0\) speaks version 99/,
  });
  t.false((await members()).includes('now'));
  await strange.store.leave('later');
});

test.serial(
  'of many nodes that claim a shard the database takes one; epochs only rise; only the owner releases',
  async (t) => {
    const store = createClusterStore(database.sql);
    for (const node of ['x', 'y', 'z']) await joinCluster(joining({ nodeId: node, secrets: [OLD, NEW] }));
    const shards = [1, 2, 3, 500];
    const claims = await Promise.all(['x', 'y', 'z'].map((node) => store.claimShards(node, shards, 10)));
    t.is(
      claims.reduce((sum, { size }) => sum + size, 0),
      shards.length,
    );
    const winner = ['x', 'y', 'z'][claims.findIndex(({ size }) => size > 0)]!;
    const loser = winner === 'x' ? 'y' : 'x';
    await store.releaseShards(loser, shards);
    const { shards: owned } = await store.owners(10);
    for (const shard of shards) t.not(owned[shard]!.owner, null);
    const before = owned[shards[0]!]!.epoch;
    const owner = owned[shards[0]!]!.owner!;
    await store.releaseShards(owner, shards);
    const again = await store.claimShards(loser, [shards[0]!], 10);
    t.true(again.get(shards[0]!)! > before + 1);
    const chains = await Promise.all(['x', 'y'].map((node) => store.claimChains(node, ['eth', 'btc'], 10)));
    t.is(chains[0]!.size + chains[1]!.size, 2);
  },
);
