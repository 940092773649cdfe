/** `flock chains rebuild` on a real node and a real database, beside the watcher of a node that stopped. G17, C3-33. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { openLiveChains } from '../../chain-watchers/live.ts';
import { addressOfHex } from '../../chains/evm/address.ts';
import { evm } from '../../chains/evm/index.ts';
import { eth } from '../../chains/evm/network.ts';
import { RebuildRefused, rebuildChain } from '../../gateway/cli/operator/rebuild.ts';
import { TokensInForce } from '../../chains/tokens.ts';
import type { ChainModule } from '../../chains/chain.ts';
import { addressKeyOf } from '../../protocol/node/ids.ts';
import { startAnvil } from '../support/anvil.ts';
import { payer, signedTransfer } from '../support/evm-client.ts';
import { createFigures } from '../support/figures.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { addressRow, newOrganization, openStores, write } from '../support/store-rows.ts';
import { Recorder } from '../support/watching.ts';

const SHOP = addressOfHex('5a09'.padStart(40, '0'));
const COIN = 10n ** 18n;

const database = await createTestDatabase();
test.after.always(() => database.close());

async function rebuild(words: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ['gateway/cli/flock.ts', 'chains', 'rebuild', ...words], {
    env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: database.url, ...env },
  });
  child.stdin.end();
  const [stdout, stderr, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ]);
  return { status, stderr, answer: (stdout === '' ? {} : JSON.parse(stdout)) as Record<string, unknown> };
}

test('G17 C3-33 a stopped chain is rebuilt by a command, which says where it parted first; the node goes on by itself', async (t) => {
  t.timeout(300_000);
  const stores = await openStores(database),
    { live: accountId } = await newOrganization(stores);
  const addressKey = addressKeyOf('live', 'evm', Buffer.from(SHOP.slice(2), 'hex'));
  await write(stores, accountId, [{ table: 'address', row: addressRow(accountId, { address: SHOP, addressKey }) }]);
  const anvil = await startAnvil(t, eth, { automine: false });
  const env = { ETH_RPC_URLS: anvil.url };
  t.regex((await rebuild(['--chain', 'eth'], {})).stderr, /^chains rebuild: not_configured: ETH_RPC_URLS is needed/);
  t.regex((await rebuild(['--chain', 'eth'], { ETH_RPC_URLS: 'node' })).stderr, /ETH_RPC_URLS: entry 1 is no http/);
  t.regex((await rebuild(['--chain', 'doge'], env)).stderr, /--chain must be one of/);
  t.regex((await rebuild(['--chain', 'eth', '--above', 'top'], env)).stderr, /--above must be the height/);
  const unfollowed = await rebuild(['--chain', 'eth'], env);
  t.like(unfollowed, { status: 1, answer: {} });
  t.regex(unfollowed.stderr, /^chains rebuild: nothing_followed: .*\(cursor: none, head: 0, common: none\)/);
  await anvil.fund(payer.address, COIN);
  await anvil.mine(3);
  const live = await openLiveChains({
    chains: { eth: { rpcUrls: [anvil.url], confirmations: null, pollMs: null, startHeight: null, secondReadMs: 0 } },
    networkOf: () => eth,
    isEnabled: () => true,
    loadModule: async () => evm as ChainModule,
    tokens: new TokensInForce(),
    watch: stores.watch,
    audit: stores.audit,
    nowMs: Date.now,
    random: Math.random,
    log: new Recorder(),
    metrics: createFigures(),
    accounts: { wake: async () => undefined, ask: async () => ({ ok: 'duplicate' as const }) as never },
  });
  t.teardown(() => live.close());
  const { watcher } = live.chains.get('eth')!;
  await watcher.tick();
  const base = await anvil.rpc<string>('evm_snapshot');
  await anvil.rpc('eth_sendRawTransaction', await signedTransfer(eth, 0, SHOP, 7n));
  await anvil.mine(300);
  while ((await watcher.tick()).more);
  const ours = await stores.watch.cursor('eth');
  t.is(ours!.height, 303);
  t.regex((await rebuild(['--chain', 'eth'], env)).stderr, /^chains rebuild: same_branch: /);
  await anvil.rpc('evm_revert', base);
  await anvil.rpc('anvil_dropAllTransactions');
  await anvil.rpc('evm_increaseTime', 1_000);
  const factKinds = async () => (await stores.inbox.inboxOf(accountId, 10)).inbox.map(({ fact }) => fact.kind);
  t.deepEqual(await factKinds(), ['seen', 'matured']);
  await anvil.mine(200);
  const behind = /^chains rebuild: head_is_behind: .*wait until .*\(cursor: 303, head: 203, common: 3\)/;
  for (const above of [[], ['--above', '3']]) {
    const refused = await rebuild(['--chain', 'eth', ...above], env);
    t.like(refused, { status: 1, answer: {} });
    t.regex(refused.stderr, behind, 'a node that resynchronises on another branch is behind');
  }
  t.deepEqual(await stores.watch.cursor('eth'), ours);
  t.deepEqual(await factKinds(), ['seen', 'matured'], 'nothing is reversed by the lag of a node');
  await anvil.mine(110);
  let stopped: string | null = null;
  for (let ticks = 0; ticks < 20 && stopped === null; ticks += 1) stopped = (await watcher.tick()).stopped;
  t.regex(stopped!, /no common ancestor within 256/);

  const looked = await rebuild(['--chain', 'eth'], env);
  t.deepEqual(looked.answer, { chain: 'eth', cursor: 303, head: 313, common: 3, replaces: 300 }, looked.stderr);
  t.deepEqual(await stores.watch.cursor('eth'), ours, 'a look changes nothing');
  t.regex((await rebuild(['--chain', 'eth', '--above', '4'], env)).stderr, /above_common: .*common: 3\)/);
  t.regex((await rebuild(['--chain', 'eth', '--above', '2'], env)).stderr, /below_common: .*common: 3\)/);
  const foreign = await startAnvil(t, eth, { automine: false });
  await foreign.mine(320);
  t.regex(
    (await rebuild(['--chain', 'eth', '--above', '3'], { ETH_RPC_URLS: `${anvil.url},${foreign.url}` })).stderr,
    /^chains rebuild: not_agreed: .*contradict each other about block 4; nothing was changed/m,
  );
  t.regex(
    (await rebuild(['--chain', 'eth', '--above', '3'], { ETH_RPC_URLS: 'http://127.0.0.1:9' })).stderr,
    /chain_unavailable: .*nothing was changed/,
  );
  t.like(await watcher.tick(), { stopped });
  t.deepEqual(await stores.watch.cursor('eth'), ours, 'a refusal changes nothing');
  t.deepEqual(await factKinds(), ['seen', 'matured']);
  const order = () => rebuild(['--chain', 'eth', '--above', '3'], env);
  let done: Awaited<ReturnType<typeof order>> | null = null;
  const overtaken = rebuildChain(
    {
      watch: {
        ...stores.watch,
        async recordReorg(...words) {
          done = await order();
          return stores.watch.recordReorg(...words);
        },
      },
      audit: stores.audit,
      tokens: new TokensInForce(),
      env,
      nowMs: Date.now,
      say: () => undefined,
    },
    'eth',
    3,
  );
  await t.throwsAsync(overtaken, { instanceOf: RebuildRefused, message: /^moved_meanwhile: .*look again/ });
  t.like(done, { status: 0, answer: { above: 3, replaced: 300, followed: 313 } }, 'the one that was first');
  t.deepEqual(await factKinds(), ['seen', 'matured', 'orphaned'], 'what is absent from the branch is reversed, once');
  t.is((await watcher.tick()).stopped, null);
  await anvil.mine(2);
  while ((await watcher.tick()).more);
  t.is((await stores.watch.cursor('eth'))!.height, 315);
});
