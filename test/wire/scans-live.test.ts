/** A scan of a live chain: real blocks, the claim of a node that died, a node that goes away. Migration M-D5, M-D9. */
import { randomBytes } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import test from 'ava';
import secp256k1 from 'secp256k1';
import { addressOfPublicKey } from '../../chains/evm/derive.ts';
import { eth } from '../../chains/evm/network.ts';
import { startAnvil } from '../support/anvil.ts';
import { enrol, eventually, startTestCloud } from '../support/gateway.ts';

const PATH = "m/44'/60'/0'";

test('migration M-D3, M-D5, M-D9 (A4): indexes 0, 3, 23 and 150 of a live chain; the scan of a dead node goes on, and comes to the same', async (t) => {
  const anvil = await startAnvil(t, eth);
  const cloud = await startTestCloud({ ETH_RPC_URLS: anvil.url, ETH_POLL_MS: '50' });
  t.teardown(() => cloud.stop());
  const { live } = await cloud.organization();
  const edge = await enrol(cloud, live),
    { client } = live;
  const account = HDKey.fromMasterSeed(randomBytes(32)).derive(PATH);
  const { id: keySourceId } = await edge.client.must('registerKeySource', {
    body: {
      ...{ fingerprint: randomBytes(8).toString('hex'), label: 'old', kind: 'phrase', keystore: 'file' },
      ...{ chains: ['eth'], keys: [{ chain: 'eth', path: PATH, xpub: account.publicExtendedKey }], addresses: [] },
    },
  });
  const addressAt = (index: number) =>
    addressOfPublicKey(secp256k1.publicKeyConvert(account.derive(`m/0/${index}`).publicKey!, false));
  for (const index of [0, 3, 23, 150]) await anvil.fund(addressAt(index), 1n);
  await anvil.mine(2);
  const { id: projectId } = await client.must('createMigrationProject', { body: { name: 'old wallet' } });
  const body = { keySourceId, chain: 'eth', gapLimit: 130 } as const;
  const { id: scanId } = await client.must('discover', { params: { projectId }, body });
  const { owner } = cloud.database;
  const read = () => client.must('getScan', { params: { scanId } });
  await eventually('a window is read', read, ({ scanned }) => scanned >= 100);
  // What a node that died in the second window leaves: its claim, and nothing of the window.
  await owner`update flock.scan set worked_until = clock_timestamp() + interval '1 hour', version = version + 1
    where id = ${scanId} and ended_at is null`;
  const held = await read();
  if (held.endedAt === null) {
    t.is(held.scanned % 100, 0, 'a window is there as a whole');
    await owner`update flock.scan set worked_until = clock_timestamp(), due_at = clock_timestamp() where id = ${scanId}`;
  }
  const ended = await eventually('the scan has ended', read, ({ endedAt }) => endedAt !== null);
  t.like(ended, { state: 'completed', stoppedBy: 'gap_limit', found: 4, lastUsedIndex: 150, largestGap: 126 });
  t.like(ended, { scanned: 281, unread: 0, evidence: 'state', networks: ['eth'] });
  t.deepEqual(ended.warnings, ['tokens_unseen', 'evm_networks']);
  const { content, totalElements } = await client.must('listScanAddresses', {
    params: { scanId },
    query: { size: '200' },
  });
  t.is(totalElements, 151);
  t.deepEqual(
    content.filter(({ used }) => used).map(({ index, address }) => [index, address]),
    [0, 3, 23, 150].map((index) => [index, addressAt(index)]),
  );
});
