import { tokensWith } from '../../support/tokens.ts';
import test, { type ExecutionContext } from 'ava';
import { feeBoundsOf } from '../../../edge/signing/signers/fee-bounds.ts';
import type { ChainModule, Intent, Token, Unsigned } from '../../../chains/chain.ts';
import { catalogueOf } from '../../../chains/catalogue.ts';
import { bytesOf } from '../../../chains/xrp/address.ts';
import { xrp } from '../../../chains/xrp/index.ts';
import { xrp as mainNetwork } from '../../../chains/xrp/network.ts';
import { sandboxOf } from '../../../chains/sandbox-networks.ts';
import { append } from '../../../chain-watchers/sandbox/ledger.ts';
import { createSandbox } from '../../../chain-watchers/sandbox/sandbox.ts';
import { xrpSigner } from '../../../edge/signing/signers/xrp.ts';
import type { Instruction, SigningPolicy } from '../../../edge/signing/signers/signer.ts';
import { createMemoryAuditStore } from '../../../persistence/memory/audit-store.ts';
import { createMemorySandboxStore } from '../../../persistence/memory/sandbox-store.ts';
import { createMemoryWatchStore } from '../../../persistence/memory/watch-store.ts';
import { isRefusal, type Refusal } from '../../../protocol/errors.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import { addressKeyOf } from '../../../protocol/node/ids.ts';
import { ModelAccount } from '../../support/model-account.ts';
import { Recorder } from '../../support/watching.ts';
import { addressAt, ours } from '../../support/xrp-node.ts';

const network = sandboxOf(mainNetwork);

const ACCOUNT = accountIdOf('org_box', 'sandbox');
const OWN = ours(0, 0),
  SECOND = ours(0, 1),
  SHOP = ours(0, 9).address;
const RLUSD = catalogueOf('xrp').get('524C555344000000000000000000000000000000:rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De')!;

function box() {
  const self = { nowMs: 1_700_000_000_000, activated: [] as string[] };
  const watch = createMemoryWatchStore(() => self.nowMs);
  const account = new ModelAccount();
  for (const [at, { address }] of [OWN, SECOND].entries())
    watch.addAddress(
      {
        addressKey: addressKeyOf('sandbox', 'xrp', bytesOf(address)),
        addressId: `adr_${at + 1}`,
        accountId: ACCOUNT,
        address,
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
    loadModule: async () => xrp as ChainModule,
    accounts: {
      async wake() {
        const rows = watch.inbox(ACCOUNT);
        for (const { fact } of rows)
          if ('deposit' in fact && fact.deposit.activates && fact.kind === 'seen')
            self.activated.push(fact.deposit.txid);
        account.take(rows);
        watch.takeInbox(rows.map(({ id }) => id));
      },
      ask: async () => ({ ok: 'duplicate' }) as const,
    },
  });
  return Object.assign(self, {
    sandbox,
    account,
    ledger: () => sandbox.ledgers.open(ACCOUNT, 'xrp'),
    client: async () => (await sandbox.ledgers.open(ACCOUNT, 'xrp')).binding.client,
    deposit: (amount: string, tokenContract: string | null = null, address = OWN.address) =>
      sandbox.control.simulateDeposit(ACCOUNT, {
        chain: 'xrp',
        address,
        amount,
        tokenContract,
        autoConfirm: true,
        confirmAfterSeconds: null,
      }),
  });
}

function must<T>(t: ExecutionContext, value: T | Refusal): T {
  if (isRefusal(value)) t.fail(JSON.stringify(value));
  return value as T;
}

test('§4.7 R7 R8 xrp: the first deposit makes the account and says so, once; one below the reserve cannot', async (t) => {
  const self = box();
  t.like(await self.deposit('0.999999'), { ok: false, code: 'INSUFFICIENT_RESERVE' });
  const first = must(t, await self.deposit('25'));
  t.regex(first.txid, /^[0-9A-F]{64}$/, 'G3');
  const second = must(t, await self.deposit('0.000001'));
  t.deepEqual(
    self.account.events.map(({ event }) => event),
    ['deposit_detected', 'deposit_confirmed', 'deposit_detected', 'deposit_confirmed'],
  );
  t.deepEqual(self.activated, [first.txid]);
  t.like(self.account.deposits.get(`${second.txid}:0`)!.transfer, { amount: '1', tokenContract: null });
  t.like(await (await self.client()).fetchBalance(OWN.address, null), {
    amount: 25_000_001n,
    reserved: 1_000_000n,
    available: 24_000_001n,
    accountExists: true,
  });
  t.like(await (await self.client()).fetchBalance(SHOP, null), { amount: 0n, accountExists: false });
});

test('§4.7 R10 R11 xrp: a simulated deposit of a token is credited by currency and issuer in units of 10^-15', async (t) => {
  const self = box();
  const { txid } = must(t, await self.deposit('2.25', RLUSD.contract));
  t.like(self.account.deposits.get(`${txid}:0`)!.transfer, {
    amount: '2250000000000000',
    tokenContract: RLUSD.contract,
  });
  t.like(await (await self.client()).fetchBalance(OWN.address, RLUSD), {
    amount: 2_250_000_000_000_000n,
    accountExists: true,
  });
});

type Box = ReturnType<typeof box>;

async function build(self: Box, more: Partial<Intent> = {}): Promise<Unsigned | Refusal> {
  const intent: Intent = {
    chain: 'xrp',
    from: OWN.address,
    fromPath: OWN.path,
    to: SHOP,
    amount: 2_000_000n,
    token: null,
    tag: null,
    ...more,
  };
  return xrp.buildUnsigned(network, (await (await self.client()).fetchBuildInputs(intent)) as never, intent, null);
}

const policy: SigningPolicy = {
  ...feeBoundsOf(network.slug),
  sweepDestinations: [],
  gasTank: null,
  catalogue: catalogueOf('xrp'),
  addressAt,
  replayWindow: null,
  nowMs: Date.UTC(2026, 0),
  journal: { forInstruction: [], withReplayKey: () => [] },
};
const instructionOf = (unsigned: Unsigned, token: Token | null): Instruction => ({
  id: 'txn_1',
  purpose: 'withdrawal',
  chain: 'xrp',
  from: OWN.address,
  fromPath: OWN.path,
  to: SHOP,
  toPath: null,
  amount: unsigned.amount,
  token,
  tag: unsigned.tag,
});

test('§4.7 xrp: build, check, sign, broadcast and confirm run through the real code, for XRP and for a token', async (t) => {
  for (const token of [null, RLUSD]) {
    const self = box(),
      client = await self.client();
    must(t, await self.deposit('25'));
    must(t, await self.deposit('5', RLUSD.contract));
    const unsigned = must(
      t,
      await build(self, { token, tag: '7', ...(token === null ? {} : { amount: 1_500_000_000_000_000n }) }),
    );
    t.is(xrpSigner.check(network, unsigned, instructionOf(unsigned, token), policy), null);
    const signed = xrpSigner.sign(network, unsigned, OWN.key);
    t.deepEqual(await client.broadcast(signed), { kind: 'accepted', txid: signed.txid });
    t.deepEqual(await client.broadcast(signed), { kind: 'already_known', txid: signed.txid });
    const fate = await client.getFate(unsigned, signed.txid);
    t.like(fate, { kind: 'included', outcome: { success: true, fee: 12n } });
    t.is((await client.fetchBalance(SHOP, token)).amount, unsigned.amount);
    t.is(
      (await client.fetchBalance(OWN.address, null)).amount,
      token === null ? 25_000_000n - 2_000_000n - 12n : 24_999_988n,
    );
    const again = must(t, await build(self, { token }));
    t.deepEqual(again.replayKey, { kind: 'sequence', value: '2' }, 'the sequence moved on');
  }
});

test('§4.7 R24 xrp: what the ledger refuses is refused in the sandbox too', async (t) => {
  const self = box();
  t.like(await build(self), { ok: false, code: 'INSUFFICIENT_FUNDS' });
  must(t, await self.deposit('3'));
  t.like(await build(self, { amount: 3_000_000n }), { ok: false, code: 'INSUFFICIENT_FUNDS' });
  t.like(await build(self, { amount: 2_000_000n }), { ok: false, code: 'INSUFFICIENT_RESERVE' });
  t.like(
    await build(self, { amount: 999_999n }),
    { ok: false, code: 'INSUFFICIENT_RESERVE' },
    'a shop that is not there',
  );
  t.like(await build(self, { token: RLUSD }), { ok: false, code: 'INSUFFICIENT_FUNDS' });
  const all = must(t, await build(self, { amount: 'all' }));
  t.is(all.amount, 3_000_000n - 1_000_000n - 12n);
});

test('§4.7 R19 R29 xrp: a payment that nobody submitted in time is void and proven dead', async (t) => {
  const self = box(),
    client = await self.client();
  must(t, await self.deposit('25'));
  const unsigned = must(t, await build(self)),
    signed = xrpSigner.sign(network, unsigned, OWN.key);
  t.like(await client.getFate(unsigned, signed.txid), { kind: 'unknown' });
  const { parts } = await self.ledger();
  await append<never>(parts, async () => Array.from({ length: 21 }, () => []));
  t.like(await client.broadcast(signed), { kind: 'unknown', reason: 'tefMAX_LEDGER' });
  t.like(await client.getFate(unsigned, signed.txid), { kind: 'dead' });
});

test('§4.7 xrp: altered bytes, a wrong txid and a used sequence are no payments', async (t) => {
  const self = box(),
    client = await self.client();
  must(t, await self.deposit('25'));
  const unsigned = must(t, await build(self)),
    signed = xrpSigner.sign(network, unsigned, OWN.key);
  t.like(await client.broadcast({ ...signed, txid: 'AB'.repeat(32) }), { kind: 'rejected_final' });
  t.like(await client.broadcast({ ...signed, payload: signed.payload.replace(/.$/, '0') }), { kind: 'rejected_final' });
  const other = xrpSigner.sign(network, must(t, await build(self, { amount: 3_000_000n })), OWN.key);
  t.like(await client.broadcast(signed), { kind: 'accepted' });
  t.like(await client.broadcast(other), { kind: 'unknown', reason: 'tefPAST_SEQ' });
});

test('§4.2 §4.7 xrp: a trust line is built, signed and mined; where the token is held it exists already', async (t) => {
  const self = box(),
    client = await self.client();
  must(t, await self.deposit('25'));
  const unsigned = must(t, await build(self, { kind: 'trustline', token: RLUSD, to: OWN.address, amount: 0n }));
  const optIn: Instruction = { ...instructionOf(unsigned, RLUSD), purpose: 'opt_in', to: OWN.address };
  t.is(xrpSigner.check(network, unsigned, optIn, policy), null);
  const signed = xrpSigner.sign(network, unsigned, OWN.key);
  t.like(await client.broadcast(signed), { kind: 'accepted' });
  t.like(await client.getFate(unsigned, signed.txid), { kind: 'included', outcome: { success: true } });
  t.like(await client.fetchBalance(OWN.address, null), { reserved: 1_200_000n }, 'the line is owned, and held for');
  t.like(await client.fetchBalance(OWN.address, RLUSD), { amount: 0n, accountExists: true });
  const amount = 24_000_000n - 200_000n;
  t.like(await build(self, { amount }), { ok: false, code: 'INSUFFICIENT_RESERVE' });
  must(t, await build(self, { amount: amount - 1_000n }));
  must(t, await self.deposit('5', RLUSD.contract));
  t.like(await build(self, { kind: 'trustline', token: RLUSD, to: OWN.address, amount: 0n }), {
    ok: false,
    code: 'CONFLICT',
  });
});

test('§4.2 xrp: an address of the account takes a token only on a line; everybody outside has one', async (t) => {
  const self = box(),
    payment: Partial<Intent> = { to: SECOND.address, token: RLUSD, amount: 1_500_000_000_000_000n };
  for (const address of [OWN.address, SECOND.address]) must(t, await self.deposit('25', null, address));
  must(t, await self.deposit('5', RLUSD.contract));
  t.like(await build(self, payment), {
    code: 'DESTINATION_OPT_IN_REQUIRED',
    details: { chain: 'xrp', asset: RLUSD.contract, destination: SECOND.address },
  });
  must(t, await build(self, { ...payment, to: SHOP }));
  must(t, await self.deposit('1', RLUSD.contract, SECOND.address));
  must(t, await build(self, payment));
});
