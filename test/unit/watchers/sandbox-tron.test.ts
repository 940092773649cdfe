/** TRON's simulated ledger: deposits, and payments built, checked, signed, submitted and confirmed by the real code. */
import { tokensWith } from '../../support/tokens.ts';
import { feeBoundsOf } from '../../../edge/signing/signers/fee-bounds.ts';
import test from 'ava';
import { catalogueOf } from '../../../chains/catalogue.ts';
import type { ChainModule, Intent, Token, Unsigned } from '../../../chains/chain.ts';
import { bytesOf } from '../../../chains/tron/address.ts';
import { bandwidthBytesOf } from '../../../chains/tron/fee.ts';
import { tron } from '../../../chains/tron/index.ts';
import { tron as mainNetwork } from '../../../chains/tron/network.ts';
import { sandboxOf } from '../../../chains/sandbox-networks.ts';
import { createSandbox } from '../../../chain-watchers/sandbox/sandbox.ts';
import type { Instruction, SigningPolicy } from '../../../edge/signing/signers/signer.ts';
import { tronSigner } from '../../../edge/signing/signers/tron.ts';
import { createMemoryAuditStore } from '../../../persistence/memory/audit-store.ts';
import { createMemorySandboxStore } from '../../../persistence/memory/sandbox-store.ts';
import { createMemoryWatchStore } from '../../../persistence/memory/watch-store.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import { addressKeyOf } from '../../../protocol/node/ids.ts';
import { ModelAccount } from '../../support/model-account.ts';
import { addressAt, must, own, SENDER, SHOP, TRX } from '../../support/tron-ledger.ts';
import { Recorder } from '../../support/watching.ts';

const network = sandboxOf(mainNetwork);

const ACCOUNT = accountIdOf('org_box', 'sandbox');
const USDT = catalogueOf('tron').get('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t')!;

function box() {
  const self = { nowMs: 1_700_000_000_000 };
  const watch = createMemoryWatchStore(() => self.nowMs),
    account = new ModelAccount();
  watch.addAddress(
    {
      addressKey: addressKeyOf('sandbox', 'tron', bytesOf(SENDER.address)),
      addressId: 'adr_1',
      accountId: ACCOUNT,
      address: SENDER.address,
      purpose: 'deposit',
    },
    'sandbox',
    self.nowMs,
  );
  const sandbox = createSandbox({
    sandbox: createMemorySandboxStore(watch.state),
    watch,
    audit: createMemoryAuditStore(watch.state),
    nowMs: () => self.nowMs,
    log: new Recorder(),
    tokens: tokensWith(catalogueOf),
    networkOf: () => mainNetwork,
    isEnabled: () => true,
    loadModule: async () => tron as ChainModule,
    accounts: {
      async wake() {
        const rows = watch.inbox(ACCOUNT);
        account.take(rows);
        watch.takeInbox(rows.map(({ id }) => id));
      },
      ask: async () => ({ ok: 'duplicate' }) as const,
    },
  });
  return Object.assign(self, {
    sandbox,
    account,
    client: async () => (await sandbox.ledgers.open(ACCOUNT, 'tron')).binding.client,
    deposit: async (amount: string, tokenContract: string | null = null) =>
      must(
        await sandbox.control.simulateDeposit(ACCOUNT, {
          chain: 'tron',
          address: SENDER.address,
          amount,
          tokenContract,
          autoConfirm: true,
          confirmAfterSeconds: null,
        }),
      ),
  });
}
type Box = ReturnType<typeof box>;

const intentOf = (more: Partial<Intent>): Intent => ({
  chain: 'tron',
  from: SENDER.address,
  fromPath: SENDER.path,
  to: SHOP,
  amount: TRX,
  token: null,
  tag: null,
  ...more,
});
async function build(self: Box, more: Partial<Intent> = {}): Promise<Unsigned | Refusal> {
  return tron.buildUnsigned(
    network,
    (await (await self.client()).fetchBuildInputs(intentOf(more))) as never,
    intentOf(more),
    null,
  );
}
const policyAt = (nowMs: number): SigningPolicy => ({
  ...feeBoundsOf(network.slug),
  sweepDestinations: [],
  gasTank: null,
  catalogue: catalogueOf('tron'),
  addressAt,
  replayWindow: null,
  nowMs,
  journal: { forInstruction: [], withReplayKey: () => [] },
});
const instructionOf = ({ amount }: Unsigned, token: Token | null): Instruction => ({
  id: 'txn_1',
  purpose: 'withdrawal',
  chain: 'tron',
  from: SENDER.address,
  fromPath: SENDER.path,
  to: SHOP,
  toPath: null,
  amount,
  token,
  tag: null,
});

test("§4.7 tron: deposits of TRX and of a token are detected and confirmed, in the chain's own texts", async (t) => {
  const self = box(),
    first = await self.deposit('25'),
    second = await self.deposit('2.5', USDT.contract);
  t.regex(first.txid, /^[0-9a-f]{64}$/, 'G3');
  t.deepEqual(
    self.account.events.map(({ event }) => event),
    ['deposit_detected', 'deposit_confirmed', 'deposit_detected', 'deposit_confirmed'],
  );
  t.like(self.account.deposits.get(`${first.txid}:-1`)!.transfer, { amount: '25000000', tokenContract: null });
  t.like(self.account.deposits.get(`${second.txid}:0`)!.transfer, { amount: '2500000', tokenContract: USDT.contract });
  const client = await self.client();
  t.like(await client.fetchBalance(SENDER.address, null), {
    amount: 25n * TRX,
    available: 25n * TRX,
    accountExists: true,
  });
  t.like(await client.fetchBalance(SENDER.address, USDT), { amount: 2_500_000n, decimals: 6 });
  t.like(await client.fetchBalance(SHOP, null), { amount: 0n, accountExists: false });
});

test('§4.7 tron: build, check, sign, broadcast and confirm run through the real code, for TRX and for a token', async (t) => {
  for (const token of [null, USDT]) {
    const self = box(),
      client = await self.client();
    await self.deposit('25');
    await self.deposit('5', USDT.contract);
    const unsigned = must(await build(self, { token }));
    t.is(tronSigner.check(network, unsigned, instructionOf(unsigned, token), policyAt(self.nowMs)), null);
    const signed = tronSigner.sign(network, unsigned, SENDER.key);
    t.deepEqual(await client.broadcast(signed), { kind: 'accepted', txid: signed.txid });
    t.deepEqual(await client.broadcast(signed), { kind: 'already_known', txid: signed.txid });
    const fee = bandwidthBytesOf(unsigned.payload) * 1_000n + (token === null ? 0n : 6_428_500n);
    t.like(await client.getFate(unsigned, signed.txid), { kind: 'included', outcome: { success: true, fee } });
    t.true(fee <= unsigned.feeMax);
    t.is((await client.fetchBalance(SHOP, token)).amount, TRX);
    t.is((await client.fetchBalance(SENDER.address, null)).amount, 25n * TRX - fee - (token === null ? TRX : 0n));
  }
});

test('T18 two equal payments built on one head are two transactions', async (t) => {
  const self = box(),
    client = await self.client();
  await self.deposit('25');
  const [first, second] = [must(await build(self)), must(await build(self))];
  t.not(first.payload, second.payload);
  for (const unsigned of [first, second])
    t.is((await client.broadcast(tronSigner.sign(network, unsigned, SENDER.key))).kind, 'accepted');
  t.is((await client.fetchBalance(SHOP, null)).amount, 2n * TRX);
});

test('T22 T23 X1 what a node would refuse is refused in the sandbox too', async (t) => {
  const self = box();
  t.like(await build(self), { code: 'INSUFFICIENT_FUNDS' });
  await self.deposit('5', USDT.contract);
  t.like(await build(self, { token: USDT }), {
    code: 'INSUFFICIENT_GAS',
    details: { reason: 'the account is not activated' },
  });
  await self.deposit('1');
  t.like(await build(self), { code: 'INSUFFICIENT_GAS' });
  t.like(await build(self, { token: USDT }), { code: 'INSUFFICIENT_GAS' });
  t.like(await build(self, { token: USDT, amount: 5_000_001n }), { code: 'INSUFFICIENT_FUNDS' });
  const all = must(await build(self, { amount: 'all' }));
  t.is(all.amount, TRX - bandwidthBytesOf(all.payload) * 1_000n);
});

test('T24 a transfer that the balance no longer covers fails in its block, and one out of energy too; both cost', async (t) => {
  const self = box(),
    client = await self.client();
  await self.deposit('25');
  await self.deposit('5', USDT.contract);
  const [whole, again] = [
    must(await build(self, { token: USDT, amount: 'all' })),
    must(await build(self, { token: USDT, amount: 'all' })),
  ];
  for (const unsigned of [whole, again])
    t.is((await client.broadcast(tronSigner.sign(network, unsigned, SENDER.key))).kind, 'accepted');
  t.like(await client.getFate(again, tronSigner.sign(network, again, SENDER.key).txid), {
    kind: 'included',
    outcome: { success: false, reason: 'REVERT' },
  });
  t.is((await client.fetchBalance(SHOP, USDT)).amount, 5n * TRX);
  await self.deposit('5', USDT.contract);
  const spender = must(await build(self, { amount: 12n * TRX })),
    starved = must(await build(self, { token: USDT }));
  for (const unsigned of [spender, starved]) await client.broadcast(tronSigner.sign(network, unsigned, SENDER.key));
  const fate = await client.getFate(starved, tronSigner.sign(network, starved, SENDER.key).txid);
  t.like(fate, { kind: 'included', outcome: { success: false, reason: 'OUT_OF_ENERGY' } });
  t.true((await client.fetchBalance(SENDER.address, null)).amount < 100n, 'all that it had for energy is gone');
});

test("T15 1.6-8 a payload expires by the ledger's clock; altered bytes, a wrong txid and another signer are no payments", async (t) => {
  const self = box(),
    client = await self.client();
  await self.deposit('25');
  const unsigned = must(await build(self)),
    signed = tronSigner.sign(network, unsigned, SENDER.key);
  t.like(await client.broadcast({ ...signed, txid: 'ab'.repeat(32) }), { kind: 'rejected_final' });
  t.like(await client.broadcast({ ...signed, payload: signed.payload.slice(0, -2) }), { kind: 'rejected_final' });
  const other = own(1),
    foreign = tronSigner.sign(network, { ...unsigned, from: other.address }, other.key);
  t.like(await client.broadcast(foreign), {
    kind: 'rejected_final',
    refusal: { details: { reason: 'the signer is not the owner' } },
  });
  self.nowMs += 600_000;
  t.like(await client.broadcast(signed), {
    kind: 'rejected_final',
    refusal: { code: 'CHAIN_REJECTED', details: { reason: 'Transaction expired' } },
  });
});
