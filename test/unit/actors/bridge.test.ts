/** Bridge policies, and transfers within their limits, as the account decides them. Treasury H2–H5, H11. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { moved } from '../../../actors/bridge/moves.ts';
import { createCctpApi, readFee } from '../../../gateway/attestation/cctp-api.ts';
import { waysOf } from '../../../chains/ways.ts';
import type { BridgeSettings } from '../../../model/account/bridge.ts';
import type { RowWrite } from '../../../model/account/capabilities.ts';
import { BRIDGE_STATES } from '../../../protocol/slugs.ts';
import { newId, newUuid } from '../../../protocol/node/ids.ts';
import { enrolled, NOW_MS } from '../../support/account.ts';
import { bridgeTransferRow } from '../../support/bridge-rows.ts';
import { pending, startAttestations } from '../../support/cctp/service.ts';
import { ROUTED } from '../../support/edge/bridges.ts';

const TOKEN = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

function withBridge(more: Partial<BridgeSettings> = {}) {
  const account = enrolled(),
    id = newUuid(NOW_MS);
  const [sourceWalletId, destinationWalletId] = (['eth', 'base'] as const).map((chain) => {
    const wallet = newId('wal', NOW_MS);
    const of = { id: wallet, chain, source: 'derived', address: null, tag: null, label: null } as const;
    account.accept({ type: 'create_treasury_wallet', wallet: of });
    return wallet;
  }) as [string, string];
  const settings: BridgeSettings = {
    fromChain: 'eth',
    toChain: 'base',
    token: TOKEN,
    sourceWalletId,
    destinationWalletId,
    maxSingleTransfer: '1000',
    maxInFlightValue: '100000',
    maxInFlightCount: 3,
    enabled: true,
    ...more,
  };
  account.accept({ type: 'create_bridge_policy', id, settings });
  const transfer = (amount = 1_000n, available = 10n ** 12n) => {
    const of = { id: newId('brt', NOW_MS), approveId: newId('txn', NOW_MS), burnId: newId('txn', NOW_MS) };
    const ids = { ...of, mintId: newId('txn', NOW_MS) };
    return { type: 'accept_bridge_transfer', policyId: id, ids, amount, available } as const;
  };
  return { account, id, settings, transfer, policy: () => account.state.bridgePolicies[0]! };
}

const eventsIn = (rows: readonly RowWrite[]) =>
  rows.flatMap((row) => (row.table === 'publication' ? [(row as { row: { event: string } }).row.event] : []));

test('treasury H4: of fifty transfers that are asked for together at a count of 3, three are accepted and 47 refused', (t) => {
  const { account, transfer, policy } = withBridge();
  const answers = Array.from({ length: 50 }, () => {
    const command = transfer(),
      decision = account.decide(command);
    return decision.ok ? account.accept(command) && 'accepted' : decision;
  });
  t.is(answers.filter((one) => one === 'accepted').length, 3);
  const refusals = answers.filter((one) => one !== 'accepted');
  t.is(refusals.length, 47);
  for (const one of refusals)
    t.like(one, {
      code: 'AMOUNT_CAP_EXCEEDED',
      details: { limit: 'maxInFlightCount', cap: '3', inFlight: '3', amount: '1000' },
    });
  t.like(policy(), { inFlightCount: 3, inFlightValue: '3000' });
});

test('treasury H3, H4: each limit refuses with its name, and what ended counts no longer', (t) => {
  const { account, transfer, policy } = withBridge({ maxInFlightValue: '1500' });
  t.like(account.decide(transfer(1_001n)), {
    code: 'AMOUNT_CAP_EXCEEDED',
    details: { limit: 'maxSingleTransfer', cap: '1000' },
  });
  t.like(account.decide(transfer(1_000n, 999n)), {
    code: 'INSUFFICIENT_FUNDS',
    details: { balance: '999', required: '1000' },
  });
  const { reply: known } = account.accept(transfer());
  t.like(account.decide(transfer()), {
    code: 'AMOUNT_CAP_EXCEEDED',
    details: { limit: 'maxInFlightValue', cap: '1500', inFlight: '1000', amount: '1000' },
  });
  account.accept({ type: 'move_bridge_transfer', known, to: 'FAILED', fields: { reason: 'fee' } });
  t.like(policy(), { inFlightCount: 0, inFlightValue: '0' });
  t.true(account.decide(transfer()).ok);
});

test('treasury H2: settings that do not fit are refused with the field', (t) => {
  const { account, id, settings } = withBridge();
  const replaced = (more: Partial<BridgeSettings>) =>
    account.decide({ type: 'replace_bridge_policy', id, settings: { ...settings, ...more }, version: null });
  const wrong = (field: string) => ({ code: 'INVALID_INPUT', details: { field } });
  t.like(replaced({ maxSingleTransfer: '100001' }), wrong('maxSingleTransfer'));
  t.like(replaced({ sourceWalletId: settings.destinationWalletId }), wrong('sourceWalletId'));
  t.like(replaced({ destinationWalletId: settings.sourceWalletId }), wrong('destinationWalletId'));
  t.like(replaced({ toChain: 'avax' }), wrong('toChain'));
  t.like(replaced({ destinationWalletId: newId('wal', 1) }), { code: 'NOT_FOUND' });
  t.like(account.decide({ type: 'create_bridge_policy', id: newUuid(NOW_MS), settings }), {
    code: 'CONFLICT',
    details: { reason: 'policy_exists', policyId: id },
  });
  const external = newId('wal', NOW_MS);
  account.accept({
    type: 'create_treasury_wallet',
    wallet: {
      id: external,
      chain: 'eth',
      source: 'external',
      address: TOKEN,
      tag: null,
      label: null,
    },
  });
  t.like(replaced({ sourceWalletId: external }), wrong('sourceWalletId'));
});

test('treasury H2: a policy that is off starts nothing, and one of which something is on its way is not deleted', (t) => {
  const off = withBridge({ enabled: false });
  t.like(off.account.decide(off.transfer()), { code: 'CONFLICT', details: { reason: 'disabled' } });
  const { account, id, transfer } = withBridge();
  const { reply: known } = account.accept(transfer());
  t.like(account.decide({ type: 'delete_bridge_policy', id }), {
    code: 'CONFLICT',
    details: { reason: 'transfers_in_flight', count: 1 },
  });
  account.accept({ type: 'move_bridge_transfer', known, to: 'FAILED', fields: { reason: 'fee' } });
  account.accept({ type: 'delete_bridge_policy', id });
  t.deepEqual(account.state.bridgePolicies, []);
});

test('treasury H5: after the burn there is no failure and no way back, and an ended transfer moves no more', (t) => {
  const { account } = withBridge();
  for (const state of ['ATTESTING', 'MINTING', 'COMPLETED', 'FAILED'] as const)
    for (const to of BRIDGE_STATES) {
      const isForward =
        (state === 'ATTESTING' && ['ATTESTING', 'MINTING', 'COMPLETED'].includes(to)) ||
        (state === 'MINTING' && ['MINTING', 'COMPLETED'].includes(to));
      const known = bridgeTransferRow({ state });
      t.is(account.decide({ type: 'move_bridge_transfer', known, to, fields: {} }).ok, isForward, `${state} ${to}`);
    }
});

test('treasury H11: what stalls is announced once, keeps its instant, and is announced again when it arrived', (t) => {
  const { account, transfer } = withBridge();
  const { reply: planned } = account.accept(transfer());
  const known = moved(planned, 'ATTESTING', { message: '0xaa' }, NOW_MS);
  const stall = { stalledReason: 'attestation' };
  const first = account.accept({ type: 'move_bridge_transfer', known, to: 'ATTESTING', fields: stall });
  t.deepEqual(eventsIn(first.rows), ['bridge_stalled']);
  const next = { type: 'move_bridge_transfer', known: first.reply, to: 'ATTESTING', fields: { lookAtMs: 5 } } as const;
  const again = account.accept(next);
  t.deepEqual(eventsIn(again.rows), []);
  t.is(again.reply.stalledAtMs, first.reply.stalledAtMs);
  const done = account.accept({
    type: 'move_bridge_transfer',
    known: again.reply,
    to: 'COMPLETED',
    fields: { received: 1_000n },
  });
  t.deepEqual(eventsIn(done.rows), ['bridge_completed']);
  t.like(done.reply, { stalledReason: null, stalledAtMs: null });
  t.like(account.decide({ type: 'retry_bridge_transfer', known: done.reply }), {
    code: 'CONFLICT',
    details: { reason: 'ended' },
  });
  t.is(account.accept({ type: 'retry_bridge_transfer', known: again.reply }).reply.lookAtMs, NOW_MS);
});

test('treasury H1: routes are open where the registry has them, and closed with a reason elsewhere and in a sandbox', (t) => {
  const live = waysOf(ROUTED, 'live');
  t.deepEqual([...new Set(live.filter(({ reason }) => reason === null).flatMap(({ from, to }) => [from, to]))].sort(), [
    'avax',
    'base',
    'eth',
    'polygon',
  ]);
  t.is(live.filter(({ reason }) => reason === null).length, 12);
  t.true(waysOf(ROUTED, 'sandbox').every(({ reason }) => reason !== null));
  t.is(waysOf(ROUTED, 'sandbox').filter(({ reason }) => reason === 'not_in_sandbox').length, 12);
});

test('treasury H6: the fee is read as text and rounded up; what does not say it is no fee', (t) => {
  const said = (fee: string) =>
    `[{"finalityThreshold":1000,"minimumFee":1.3},{"finalityThreshold":2000,"minimumFee":${fee}}]`;
  t.is(readFee(said('0'), 1_000_000n), 0n);
  t.is(readFee(said('1'), 1_000_000n), 100n);
  t.is(readFee(said('1.3'), 1_000_001n), 131n);
  t.is(readFee(said('0.000001'), 1n), 1n);
  t.is(readFee('[{"minimumFee":2,"finalityThreshold":2000}]', 10_000n), 2n);
  for (const none of ['', '[]', said('"1"'), said('-1'), said('1e3'), '[{"finalityThreshold":1000,"minimumFee":1}]'])
    t.is(readFee(none, 1_000n), null, none);
});

test('treasury H8: nobody at the service is no answer, and no fault', async (t) => {
  const away = createCctpApi({ CCTP_API_URL: 'http://127.0.0.1:1' });
  t.deepEqual(await away.attestationOf(0, '0x1'), { kind: 'not_yet', reason: 'no_answer' });
  t.is(await away.feeOf(0, 6, 1n), null);
});

test('treasury H8: an answer that does not end is not read to its end', async (t) => {
  let sent = 0;
  const server = createServer((_request, response) => {
    const more = (): void => {
      if (response.destroyed) return;
      sent += 1;
      response.write('x'.repeat(65_536), more);
    };
    more();
  });
  t.teardown(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const endless = createCctpApi({ CCTP_API_URL: `http://127.0.0.1:${port}` });
  t.deepEqual(await endless.attestationOf(0, '0x1'), { kind: 'not_yet', reason: 'no_answer' });
  t.true(sent > 4);
});

const TXID = `0x${'ab'.repeat(32)}`;
const SILENCE_MS = 300_000;

test('treasury H8: after 429 the service is left alone for five minutes, by every transfer, and then asked again', async (t) => {
  const service = await startAttestations([]);
  t.teardown(() => service.close());
  service.plan = (honest, asked) => (asked === 0 ? { status: 429, body: { error: 'Too many requests' } } : honest);
  let nowMs = NOW_MS;
  const attesters = createCctpApi({ CCTP_API_URL: service.url }, () => nowMs);
  const silence = { kind: 'silence', untilMs: NOW_MS + SILENCE_MS };
  t.deepEqual(await attesters.attestationOf(0, TXID), silence);
  nowMs += SILENCE_MS - 1;
  t.deepEqual(await attesters.attestationOf(0, TXID), silence);
  t.deepEqual(await attesters.attestationOf(6, TXID), silence, 'the domain makes no difference');
  t.is(await attesters.feeOf(0, 6, 1n), null, 'nor does the question');
  t.is(service.asked, 1);
  nowMs += 1;
  t.deepEqual(await attesters.attestationOf(0, TXID), { kind: 'not_yet', reason: `status_${pending.status}` });
  t.is(service.asked, 2);
});

test('treasury H8: who waited its turn while another was told 429 asks no more', async (t) => {
  const service = await startAttestations([]);
  t.teardown(() => service.close());
  service.plan = () => ({ status: 429, body: { error: 'Too many requests' } });
  const turn = Promise.withResolvers<void>();
  const attesters = createCctpApi(
    { CCTP_API_URL: service.url },
    () => NOW_MS,
    () => turn.promise,
  );
  const first = attesters.attestationOf(0, TXID),
    queued = [6, 1, 7].map((domain) => attesters.attestationOf(domain, TXID));
  const silence = { kind: 'silence', untilMs: NOW_MS + SILENCE_MS };
  t.deepEqual(await first, silence);
  turn.resolve();
  t.deepEqual(await Promise.all(queued), [silence, silence, silence]);
  t.is(service.asked, 1);
});
