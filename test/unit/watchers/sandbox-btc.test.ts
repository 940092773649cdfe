import { tokensWith } from '../../support/tokens.ts';
import test, { type ExecutionContext } from 'ava';
import { feeBoundsOf } from '../../../edge/signing/signers/fee-bounds.ts';
import { Transaction } from 'bitcoinjs-lib';
import type { ChainModule, Intent, Signed, Unsigned } from '../../../chains/chain.ts';
import { btc } from '../../../chains/btc/index.ts';
import { bitcoin } from '../../../chains/btc/network.ts';
import { sandboxOf } from '../../../chains/sandbox-networks.ts';
import { createSandbox } from '../../../chain-watchers/sandbox/sandbox.ts';
import { btcSigner } from '../../../edge/signing/signers/btc.ts';
import { createMemoryAuditStore } from '../../../persistence/memory/audit-store.ts';
import { createMemorySandboxStore } from '../../../persistence/memory/sandbox-store.ts';
import { createMemoryWatchStore } from '../../../persistence/memory/watch-store.ts';
import { isRefusal, type Refusal } from '../../../protocol/errors.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import { addressKeyOf } from '../../../protocol/node/ids.ts';
import { accepted, own, ownAddressAt } from '../../support/btc-inputs.ts';
import { ModelAccount } from '../../support/model-account.ts';
import { Recorder } from '../../support/watching.ts';

const network = sandboxOf(bitcoin);

const ACCOUNT = accountIdOf('org_box', 'sandbox');
const OWN = own(0),
  SHOP = own(900).address;
const COIN = 100_000_000n;

function box() {
  const self = { nowMs: 1_700_000_000_000 };
  const watch = createMemoryWatchStore(() => self.nowMs),
    account = new ModelAccount();
  watch.addAddress(
    {
      addressKey: addressKeyOf('sandbox', 'btc', OWN.script),
      addressId: 'adr_1',
      accountId: ACCOUNT,
      address: OWN.address,
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
    tokens: tokensWith(() => new Map()),
    networkOf: () => bitcoin,
    isEnabled: () => true,
    loadModule: async () => btc as ChainModule,
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
    client: async () => (await sandbox.ledgers.open(ACCOUNT, 'btc')).binding.client,
    ledger: () => sandbox.ledgers.open(ACCOUNT, 'btc'),
    deposit: (amount: string, autoConfirm = true) =>
      sandbox.control.simulateDeposit(ACCOUNT, {
        chain: 'btc',
        address: OWN.address,
        amount,
        tokenContract: null,
        autoConfirm,
        confirmAfterSeconds: null,
      }),
  });
}
type Box = ReturnType<typeof box>;

function must<T>(t: ExecutionContext, value: T | Refusal): T {
  if (isRefusal(value)) t.fail(JSON.stringify(value));
  return value as T;
}

async function payment(self: Box, amount: bigint | 'all', to = SHOP): Promise<{ unsigned: Unsigned; signed: Signed }> {
  const client = await self.client();
  const intent: Intent = { chain: 'btc', from: OWN.address, fromPath: OWN.path, to, amount, token: null, tag: null };
  const inputs = await client.fetchBuildInputs(intent);
  const unsigned = accepted(btc.buildUnsigned(network, inputs as never, intent, null));
  const instruction = { id: 'txn_1', purpose: 'withdrawal', toPath: null, ...intent } as const;
  const refusal = btcSigner.check(network, unsigned, instruction, {
    ...feeBoundsOf(network.slug),
    sweepDestinations: [],
    gasTank: null,
    catalogue: new Map(),
    addressAt: (path) => ownAddressAt(path),
    replayWindow: null,
    journal: { forInstruction: [], withReplayKey: () => [] },
  });
  if (refusal !== null) throw new Error(JSON.stringify(refusal));
  return { unsigned, signed: btcSigner.sign(network, unsigned, { privateKey: OWN.privateKey }) };
}

test('§4.7 btc: a simulated deposit is detected, confirmed at three, held, and taken back by a reorg', async (t) => {
  const self = box(),
    { txid } = must(t, await self.deposit('0.5', false));
  t.regex(txid, /^[0-9a-f]{64}$/, 'G3');
  t.deepEqual(
    self.account.events.map(({ event }) => event),
    ['deposit_detected'],
  );
  must(t, await self.sandbox.control.simulateConfirmation(ACCOUNT, { chain: 'btc', txid, confirmations: 3 }));
  t.deepEqual(
    self.account.events.map(({ event }) => event),
    ['deposit_detected', 'deposit_confirmed'],
  );
  t.like(await (await self.client()).fetchBalance(OWN.address, null), {
    amount: COIN / 2n,
    reserved: 0n,
    available: COIN / 2n,
  });
  must(t, await self.sandbox.control.simulateReorg(ACCOUNT, { chain: 'btc', depth: 3 }));
  t.is(self.account.events.at(-1)!.event, 'deposit_reversed');
  t.is((await (await self.client()).fetchBalance(OWN.address, null)).amount, 0n);
  t.like(await self.deposit('0.00000293'), { code: 'CHAIN_REJECTED' }, 'dust, as a node would not relay it');
});

test('§4.7 B9 btc: build, check, sign, broadcast and confirm run through the real code; change comes back and is no deposit', async (t) => {
  const self = box();
  for (const amount of ['0.5', '0.3']) must(t, await self.deposit(amount));
  const client = await self.client(),
    { unsigned, signed } = await payment(self, 60_000_000n);
  t.is(unsigned.replayKey.kind === 'outpoints' ? unsigned.replayKey.value.length : 0, 2);
  t.deepEqual(await client.broadcast(signed), { kind: 'accepted', txid: signed.txid });
  t.deepEqual(await client.broadcast(signed), { kind: 'already_known', txid: signed.txid });
  const fate = await client.getFate(unsigned, signed.txid);
  t.like(fate, { kind: 'included', outcome: { success: true, fee: unsigned.feeMax } });
  const left = 80_000_000n - 60_000_000n - unsigned.feeMax;
  t.is((await client.fetchBalance(OWN.address, null)).amount, left);
  t.is((await client.fetchBalance(SHOP, null)).amount, 60_000_000n);
  t.is(self.account.events.filter(({ event }) => event === 'deposit_detected').length, 2);
  const rest = await payment(self, 'all');
  t.is((await client.broadcast(rest.signed)).kind, 'accepted');
  t.is((await client.fetchBalance(OWN.address, null)).amount, 0n);
  t.is((await client.fetchBalance(SHOP, null)).amount, 60_000_000n + rest.unsigned.amount);
});

test('§4.7 B17 G27 btc: of two payments from one coin one lands, and the other is dead by its proof', async (t) => {
  const self = box();
  must(t, await self.deposit('0.5'));
  const client = await self.client(),
    first = await payment(self, 1_000_000n),
    second = await payment(self, 2_000_000n);
  t.is((await client.getFate(second.unsigned, second.signed.txid)).kind, 'unknown');
  await client.broadcast(first.signed);
  t.like(await client.broadcast(second.signed), { kind: 'unknown', reason: 'bad-txns-inputs-missingorspent' });
  const fate = await client.getFate(second.unsigned, second.signed.txid);
  t.is(fate.kind, 'dead');
  if (fate.kind === 'dead') t.true(fate.proof.includes(first.signed.txid));
});

test('§4.7 btc: a withdrawal that a reorg takes out has its coins back, and the same bytes land again', async (t) => {
  const self = box();
  must(t, await self.deposit('0.5'));
  const client = await self.client(),
    { unsigned, signed } = await payment(self, 1_000_000n);
  await client.broadcast(signed);
  must(t, await self.sandbox.control.simulateReorg(ACCOUNT, { chain: 'btc', depth: 1 }));
  t.is((await client.getFate(unsigned, signed.txid)).kind, 'unknown');
  t.is((await client.fetchBalance(OWN.address, null)).amount, COIN / 2n);
  t.deepEqual(await client.broadcast(signed), { kind: 'accepted', txid: signed.txid });
});

test('§4.7 G28 btc: altered bytes, a wrong txid, another key and a fee below the minimum are no payments', async (t) => {
  const self = box();
  must(t, await self.deposit('0.5'));
  const client = await self.client(),
    { signed } = await payment(self, 1_000_000n);
  const changed = (change: (transaction: Transaction) => void): Signed => {
    const transaction = Transaction.fromHex(signed.payload);
    change(transaction);
    return { chain: 'btc', payload: transaction.toHex(), txid: transaction.getId() };
  };
  const reason = async (other: Signed) => {
    const result = await client.broadcast(other);
    return result.kind === 'rejected_final' ? result.refusal.details['reason'] : result.kind;
  };
  t.is(await reason({ ...signed, txid: '0'.repeat(64) }), 'the txid is not the hash of the payload');
  t.is(await reason({ ...signed, payload: 'zz' }), 'TX decode failed');
  t.is(await reason(changed((transaction) => transaction.stripWitnesses())), 'mempool-script-verify-flag-failed');
  t.is(
    await reason(
      changed((transaction) => {
        transaction.outs[0]!.value += 1n;
      }),
    ),
    'mempool-script-verify-flag-failed',
  );
  t.is(
    await reason(
      changed((transaction) => {
        transaction.outs[0]!.value = COIN;
      }),
    ),
    'bad-txns-in-belowout',
  );
  t.is(
    await reason(
      changed((transaction) => {
        transaction.outs[0]!.value = 1n;
      }),
    ),
    'dust',
  );
  t.regex(
    String(
      await reason(
        changed((transaction) => {
          transaction.outs[1]!.value += 700n;
        }),
      ),
    ),
    /^min relay fee not met, 5 < 14[01]$/,
  );
  t.is(
    await reason(
      changed((transaction) => {
        transaction.locktime = 5_000;
      }),
    ),
    'unknown',
  );
  t.is((await client.fetchBalance(OWN.address, null)).amount, COIN / 2n);
});
