/** What chains with accounts, and with depths, tell an application of a live service: activation, opt-ins, ladder, coverage. */
import test from 'ava';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catalogueOf } from '../../chains/catalogue.ts';
import { startReceiver } from '../../gateway/cli/webhook-receiver.ts';
import { createClient } from '../../protocol/client.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import { EVENTS, type Chain } from '../../protocol/slugs.ts';
import { startDeployment } from '../../developer/deployment.ts';
import { openXlmStage } from '../../developer/demo-xlm.ts';
import { LedgerNetwork } from '../../developer/stand-ins/xrp/ledger-network.ts';
import { fund, must as mustXrp } from '../../developer/stand-ins/xrp/people.ts';
import { startXrpServer } from '../../developer/stand-ins/xrp/server.ts';
import { walletOf } from '../../developer/stand-ins/xrp/signers.ts';
import { patiently } from '../support/company.ts';
import { testServerUrl } from '../support/postgres.ts';
import { openBtc } from '../support/soak/btc.ts';
import { envOf } from '../support/soak/soak-chain.ts';

const XLM = 10_000_000n;
const RLUSD = [...catalogueOf('xrp').values()].find(({ symbol }) => symbol === 'RLUSD')!;
const USDC = [...catalogueOf('xlm').values()].find(({ symbol }) => symbol === 'USDC')!;

/** An XRP ledger on which the token's issuer exists, with a payer. */
async function openXrp() {
  const [, issuer] = RLUSD.contract.split(':');
  const network = new LedgerNetwork({
    nowMs: () => performance.timeOrigin + performance.now(),
    accounts: [{ LedgerEntryType: 'AccountRoot', Account: issuer, Balance: '1000000000', Flags: 0x0080_0000, OwnerCount: 0, Sequence: 1 }],
  });
  const servers = await Promise.all([startXrpServer(network), startXrpServer(network)]), payer = walletOf('payer');
  fund(network, payer.classicAddress, 10_000_000_000n);
  network.close();
  return {
    cloudEnv: envOf('xrp', servers.map(({ url }) => url)), mine: () => { network.close(); },
    pay(to: string, drops: bigint) {
      const txid = mustXrp(network, payer, { TransactionType: 'Payment', Destination: to, Amount: drops.toString() });
      network.close();
      return txid;
    },
    close: async () => { await Promise.all(servers.map((server) => server.close())); },
  };
}

const dataDir = mkdtempSync(join(tmpdir(), 'flock-ledgers-'));
const btc = await openBtc(), xlm = await openXlmStage(), xrp = await openXrp(), receiver = await startReceiver();
const deployment = await startDeployment({
  dataDir, cloudPort: 0, edgePort: 0, environment: 'live', durable: false, log: () => undefined,
  databaseUrl: await testServerUrl(), databaseName: `ledgers_${process.pid}_${Date.now()}`,
  cloudEnv: { WEBHOOK_LADDER_SECONDS: '0,1,1,1', ...btc.cloudEnv, ...xlm.cloudEnv, ...xrp.cloudEnv },
  edgeEnv: { EDGE_WEBHOOK_ALLOWLIST: `127.0.0.1:${receiver.port}` },
});
const client = createClient({ baseUrl: deployment.edgeUrl, apiKey: deployment.localApiKey });
await patiently('readiness', () => client.call('getEdgeReadiness'), (view) =>
  !isRefusal(view) && (['btc', 'xrp', 'xlm'] as const).every((chain) => view.content.some((row) => row.chain === chain && row.state === 'ready')));
receiver.setSecret((await client.must('createWebhook', { body: { url: receiver.url, events: [...EVENTS] } })).secret);
test.after.always(async () => {
  await deployment.stop();
  await Promise.all([receiver.close(), btc.close(), xlm.close(), xrp.close()]);
  rmSync(dataDir, { recursive: true, force: true });
});

const newAddress = async (chain: Chain) => (await client.must('createAddress', { body: { chain, userRef: 'customer-1' } })).address;
const told = (event: string, txid: string) => receiver.next((got) => got.event === event && got.data['txid'] === txid);
const openLine = (chain: 'xrp' | 'xlm', address: string) =>
  client.call('createTrustline', { params: { address }, body: { chain, asset: (chain === 'xrp' ? RLUSD : USDC).contract } });
const codeOf = (answer: object): string => (isRefusal(answer) ? (answer as Refusal).code : 'built');

for (const [chain, pay, mine, unit] of [
  ['xlm', async (to: string, amount: bigint) => (await xlm.pay(to, amount)).txid, () => xlm.mine(1), XLM],
  ['xrp', async (to: string, amount: bigint) => xrp.pay(to, amount), async () => xrp.mine(), 1_000_000n],
] as const) {
  test(`§2.4 §4.2 §6 R7 R27 M4 M26 ${chain}: an account that is not there, its activation, and a trust line whose preconditions are checked in order`, async (t) => {
    const address = await newAddress(chain), params = { chain, address };
    t.like(await client.must('getBalance', { params }), { amount: '0', reserved: '0', available: '0', accountExists: false }, 'a real zero');
    t.is(codeOf(await openLine(chain, address)), 'CHAIN_REJECTED', 'the account does not exist');

    const txid = await pay(address, unit * 12n / 10n);
    const activated = await told('address_activated', txid);
    t.like(activated.data, { chain, address });
    await told('deposit_confirmed', txid);
    t.is(receiver.received.filter(({ event, data }) => event === 'address_activated' && data['address'] === address).length, 1);
    const balance = await client.must('getBalance', { params });
    t.like(balance, { amount: (unit * 12n / 10n).toString(), accountExists: true });
    t.is(BigInt(balance.amount) - BigInt(balance.reserved), BigInt(balance.available));
    t.is(BigInt(balance.reserved), unit, 'the ledger\'s own reserve');
    // Stellar: 1.5 XLM and the fee. XRP: the first two lines need no reserve of their own.
    if (chain === 'xlm') t.is(codeOf(await openLine(chain, address)), 'INSUFFICIENT_RESERVE');
    const more = await pay(address, 20n * unit);
    await told('deposit_confirmed', more);
    t.false(receiver.received.some(({ event, data }) => event === 'address_activated' && data['txid'] === more), 'once');

    const built = await openLine(chain, address);
    if (isRefusal(built)) throw new Error(JSON.stringify(built));
    await client.must('broadcastTransaction', { params: { id: built.id } });
    await mine();
    await receiver.next((got) => got.event === 'withdrawal_confirmed' && got.data['transactionId'] === built.id);
    t.is(codeOf(await openLine(chain, address)), 'CONFLICT', 'the line is there');
    const token = (chain === 'xrp' ? RLUSD : USDC).contract;
    t.like(await client.must('getTokenBalance', { params: { chain, address, token } }), { amount: '0', accountExists: true });
    t.is(codeOf(await client.call('createTrustline', { params: { address }, body: { chain, asset: token.replace(/:.*/, ':') } })), 'TOKEN_NOT_SUPPORTED');
  });
}

test('§2.5 decisions 5 B3 btc: confirmations climb 1, 2, 3; coverage follows; a reorg takes it back with its depth', async (t) => {
  const address = await newAddress('btc'), txid = await btc.pay(address, 50_000n);
  const record = async () => (await client.must('listTransactions', { query: { chain: 'btc', direction: 'in' } })).content.find((row) => row.txid === txid);
  t.is(await record(), undefined, 'B2: nothing before the first confirmation');
  const ladder: unknown[] = [];
  for (let step = 1; step <= 3; step += 1) {
    await btc.mine(1);
    const seen = await patiently(`${step} confirmations`, record, (row) => row?.confirmations === step && (step < 3 || row.status === 'confirmed'));
    ladder.push([seen!.confirmations, seen!.threshold, seen!.status]);
  }
  t.deepEqual(ladder, [[1, 3, 'detected'], [2, 3, 'detected'], [3, 3, 'confirmed']]);
  t.like((await told('deposit_detected', txid)), { event: 'deposit_detected' });
  await told('deposit_confirmed', txid);
  const head = await btc.headHeight();
  const coverage = await patiently('coverage', () => client.call('getCoverage', { params: { chain: 'btc' } }), (view) => !isRefusal(view) && view.completeHeight === head);
  t.like(coverage, { chain: 'btc', completeHeight: head, headHeight: head, lag: 0, unresolved: [] });
  await btc.reorg(4, () => false);
  const reversed = await told('deposit_reversed', txid);
  t.like(reversed.data, { reversedFrom: 'confirmed', amount: '50000', txid });
  t.is((await record())!.status, 'reversed');
  t.is((await client.must('getBalance', { params: { chain: 'btc', address } })).amount, '0');
});
