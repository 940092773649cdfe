/**
 * The watcher on stand-in XRP servers that lag, miss ledgers, lie, rate-limit, stall and die: every payment counts
 * once.
 */
import test from 'ava';
import type { ChainModule, Catalogue } from '../../../chains/chain.ts';
import { bytesOf } from '../../../chains/xrp/address.ts';
import { createClient } from '../../../chains/xrp/client.ts';
import { xrp as module } from '../../../chains/xrp/index.ts';
import { xrp } from '../../../chains/xrp/network.ts';
import { oneEndpoint } from '../../../chain-watchers/follow/one-endpoint.ts';
import { addressKeyOf } from '../../../protocol/node/ids.ts';
import { act, fund, makeIssuer, trust } from '../../../developer/stand-ins/xrp/people.ts';
import { walletOf } from '../../../developer/stand-ins/xrp/signers.ts';
import { ModelAccount } from '../../support/model-account.ts';
import { seeded } from '../../support/seeded.ts';
import { ours, startNode, tokenOf, walletAt, type Node } from '../../support/xrp-node.ts';
import { ACCOUNT, watching } from '../../support/watching.ts';

const SHOP = ours(0, 0).address,
  payer = walletOf('payer'),
  issuer = walletOf('issuer');
const usd = { currency: 'USD', issuer: issuer.classicAddress },
  USD = tokenOf(issuer.classicAddress);
const catalogue: Catalogue = new Map([[USD.contract, USD]]);

/** A watcher of our address over all servers, with a witness for each. */
function watched({ client, transport, endpoints }: Node) {
  const witnesses =
    endpoints.length === 1
      ? []
      : endpoints.map((endpoint) => createClient(xrp, oneEndpoint('xrp', transport, endpoint), catalogue));
  const self = watching({
    client,
    witnesses,
    ledger: 'xrp',
    network: xrp,
    module: module as ChainModule,
    catalogue,
    settings: { secondReadMs: 0 },
  });
  self.store.addAddress(
    {
      addressKey: addressKeyOf('live', 'xrp', bytesOf(SHOP)),
      addressId: 'adr_shop',
      accountId: ACCOUNT,
      address: SHOP,
      purpose: 'deposit',
    },
    'live',
    self.nowMs,
  );
  const account = new ModelAccount(),
    activated: string[] = [];
  const take = () => {
    const rows = self.store.inbox(ACCOUNT);
    for (const { fact } of rows)
      if ('deposit' in fact && fact.deposit.activates && fact.kind === 'seen') activated.push(fact.deposit.txid);
    account.take(rows);
    self.store.takeInbox(rows.map(({ id }) => id));
  };
  return { self, account, activated, take };
}

test('R1 R7 G18 G19 a payment is told when its ledger is validated, and matures with it; the first one makes the account', async (t) => {
  const node = await startNode(t),
    { network } = node,
    { self, account, activated, take } = watched(node);
  await self.watcher.tick();
  const first = fund(network, SHOP, 25_000_000n);
  await self.watcher.tick();
  take();
  t.deepEqual(account.events, [], 'an open ledger is none');
  network.close();
  await self.watcher.tick();
  take();
  t.deepEqual(
    account.events.map(({ event, key }) => [event, key]),
    [
      ['deposit_detected', `${first}:0`],
      ['deposit_confirmed', `${first}:0`],
    ],
  );
  const second = fund(network, SHOP, 1n);
  network.close();
  await self.watcher.tick();
  take();
  t.deepEqual(
    [...account.credited()],
    [
      [`${first}:0`, 25_000_000n],
      [`${second}:0`, 1n],
    ],
  );
  t.deepEqual(activated, [first]);
});

for (const seed of [1, 2, 3]) {
  test(`G7 G8 G10 8.4 C1-1 C2-17 seed ${seed}: servers that lag, miss, lie, stall, limit and die lose no payment and double none`, async (t) => {
    const node = await startNode(t, { servers: 3 }),
      { network, servers } = node,
      random = seeded(seed);
    const pick = (below: number) => Math.floor(random() * below);
    for (const address of [payer.classicAddress, SHOP]) fund(network, address, 50_000_000_000n);
    makeIssuer(network, issuer);
    network.close();
    trust(network, walletAt(0, 0), usd);
    trust(network, payer, usd);
    network.close();
    act(network, issuer, {
      TransactionType: 'Payment',
      Destination: payer.classicAddress,
      Amount: { ...usd, value: '1000000' },
    });
    network.close();
    const { self, account, take } = watched(node);
    await self.watcher.tick();
    const paid = new Map<string, bigint>();
    const pay = () => {
      const units = BigInt(1 + pick(1_000)),
        inToken = random() < 0.3;
      const Amount = inToken ? { ...usd, value: units.toString() } : units.toString();
      const { result, tx } = act(network, payer, {
        TransactionType: 'Payment',
        Destination: SHOP,
        Amount,
        ...(random() < 0.5 ? { DestinationTag: pick(9) } : {}),
      });
      if (result === 'tesSUCCESS') paid.set(`${tx.txid}:0`, inToken ? units * 10n ** 15n : units);
    };
    const hurt = async () => {
      // One server at a time lies: two of three that agree on a lie are believed.
      for (const { faults } of servers) faults.forkFrom = null;
      const server = servers[pick(3)]!,
        { faults } = server,
        dice = random();
      if (dice < 0.2) faults.lag = pick(4);
      else if (dice < 0.35) faults.missing = [{ first: network.tip.height - pick(5), last: network.tip.height }];
      else if (dice < 0.5) faults.busy = (['slowDown', 'tooBusy', 'noNetwork', { http: 503 }] as const)[pick(4)]!;
      else if (dice < 0.65) faults.forkFrom = network.tip.height - pick(3);
      else if (dice < 0.8) {
        await server.die();
        await server.revive();
      } else if (dice < 0.9) network.isValidating = !network.isValidating;
      else Object.assign(faults, { lag: 0, missing: [], busy: null });
      network.validate();
    };
    for (let step = 0; step < 60; step += 1) {
      for (let i = pick(3); i > 0; i -= 1) pay();
      network.close();
      if (random() < 0.4) await hurt();
      self.nowMs += 4_000;
      node.passMs(4_000);
      await self.watcher.tick().catch((error: unknown) => t.is((error as Error).name, 'ChainUnavailable'));
      if (random() < 0.1) self.restart();
      if (random() < 0.5) take();
    }
    for (const { faults } of servers) Object.assign(faults, { lag: 0, missing: [], busy: null, forkFrom: null });
    network.isValidating = true;
    for (let round = 0; round < 20; round += 1) {
      network.close();
      self.nowMs += 61_000;
      node.passMs(4_000);
      await node.client.checkIdentity();
      await self.watcher.tick();
    }
    take();
    t.true(paid.size > 20);
    t.deepEqual(new Map([...account.credited()].sort()), new Map([...paid].sort()));
    t.is(self.watcher.stopped(), null);
    const detected = account.events.filter(({ event }) => event === 'deposit_detected').map(({ key }) => key);
    t.is(new Set(detected).size, detected.length, 'told once');
  });
}
