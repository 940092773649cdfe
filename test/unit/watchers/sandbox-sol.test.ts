import { tokensWith } from '../../support/tokens.ts';
import test, { type ExecutionContext } from 'ava';
import { feeBoundsOf } from '../../../edge/signing/signers/fee-bounds.ts';
import { base58 } from '@scure/base';
import type { ChainModule, Intent, Token, Unsigned } from '../../../chains/chain.ts';
import { catalogueOf } from '../../../chains/catalogue.ts';
import { depositPath } from '../../../chains/sol/derive.ts';
import { sol } from '../../../chains/sol/index.ts';
import { solana as mainNetwork } from '../../../chains/sol/network.ts';
import { sandboxOf } from '../../../chains/sandbox-networks.ts';
import { createSandbox } from '../../../chain-watchers/sandbox/sandbox.ts';
import { solSigner } from '../../../edge/signing/signers/sol.ts';
import type { Instruction, SigningPolicy } from '../../../edge/signing/signers/signer.ts';
import { createMemoryAuditStore } from '../../../persistence/memory/audit-store.ts';
import { createMemorySandboxStore } from '../../../persistence/memory/sandbox-store.ts';
import { createMemoryWatchStore } from '../../../persistence/memory/watch-store.ts';
import { isRefusal, type Refusal } from '../../../protocol/errors.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import { addressKeyOf } from '../../../protocol/node/ids.ts';
import { ModelAccount } from '../../support/model-account.ts';
import { keyOf } from '../../support/sol-node.ts';
import { Recorder } from '../../support/watching.ts';

const solana = sandboxOf(mainNetwork);

const ACCOUNT = accountIdOf('org_box', 'sandbox');
const { address: OURS, privateKey } = keyOf(1);
const SHOP = keyOf(2).address;
const USDC = catalogueOf('sol').get('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')!;

function box() {
  const self = { nowMs: 1_700_000_000_000 };
  const watch = createMemoryWatchStore(() => self.nowMs);
  const account = new ModelAccount();
  watch.addAddress(
    {
      addressKey: addressKeyOf('sandbox', 'sol', base58.decode(OURS)),
      addressId: 'adr_1',
      accountId: ACCOUNT,
      address: OURS,
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
    loadModule: async () => sol as ChainModule,
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
    client: async () => (await sandbox.ledgers.open(ACCOUNT, 'sol')).binding.client,
    deposit: (amount: string, tokenContract: string | null = null) =>
      sandbox.control.simulateDeposit(ACCOUNT, {
        chain: 'sol',
        address: OURS,
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

const events = ({ account }: ReturnType<typeof box>) => account.events.map(({ event }) => event);

test('§4.7 G2 sol: a simulated deposit of SOL and of a token is detected, confirmed and held', async (t) => {
  for (const [text, token, amount] of [
    ['1.5', null, 1_500_000_000n],
    ['2.25', USDC, 2_250_000n],
  ] as const) {
    const self = box();
    const { txid, outputIndex } = must(t, await self.deposit(text, token?.contract ?? null));
    t.deepEqual(events(self), ['deposit_detected', 'deposit_confirmed']);
    t.is(base58.decode(txid).length, 64, 'G3');
    t.like(self.account.deposits.get(`${txid}:${outputIndex}`)!.transfer, {
      amount: amount.toString(),
      tokenContract: token?.contract ?? null,
    });
    t.like(await (await self.client()).fetchBalance(OURS, token), { amount, accountExists: true });
  }
});

async function build(
  self: ReturnType<typeof box>,
  token: Token | null,
  amount: bigint | 'all',
): Promise<{ unsigned: Unsigned; intent: Intent } | Refusal> {
  const intent: Intent = { chain: 'sol', from: OURS, fromPath: depositPath(0), to: SHOP, amount, token, tag: null };
  const unsigned = sol.buildUnsigned(
    solana,
    (await (await self.client()).fetchBuildInputs(intent)) as never,
    intent,
    null,
  );
  return isRefusal(unsigned) ? unsigned : { unsigned, intent };
}

const policy: SigningPolicy = {
  ...feeBoundsOf(solana.slug),
  sweepDestinations: [],
  gasTank: null,
  catalogue: catalogueOf('sol'),
  addressAt: (path) => (path === depositPath(0) ? OURS : null),
  replayWindow: null,
  journal: { forInstruction: [], withReplayKey: () => [] },
};
const instructionOf = ({ amount, token }: Intent): Instruction => ({
  id: 'txn_1',
  purpose: 'withdrawal',
  chain: 'sol',
  from: OURS,
  fromPath: depositPath(0),
  to: SHOP,
  toPath: null,
  amount,
  token,
  tag: null,
});

test('decisions 8: sol withdrawals of SOL, of all of it and of a token go through the real builder, checker, signer and decoder', async (t) => {
  for (const [token, amount] of [
    [null, 100_000_000n],
    [null, 'all'],
    [USDC, 1_000_000n],
    [USDC, 'all'],
  ] as const) {
    const self = box();
    must(t, await self.deposit('1'));
    must(t, await self.deposit('5', USDC.contract));
    const client = await self.client(),
      before = (await client.fetchBalance(OURS, null)).amount;
    const { unsigned, intent } = must(t, await build(self, token, amount));
    t.is(solSigner.check(solana, unsigned, instructionOf(intent), policy), null);
    const signed = solSigner.sign(solana, unsigned, { privateKey });
    t.is(sol.matchSigned(solana, unsigned, signed), null);
    t.deepEqual(await client.broadcast(signed), { kind: 'accepted', txid: signed.txid });
    t.deepEqual(await client.broadcast(signed), { kind: 'already_known', txid: signed.txid });
    const fate = await client.getFate(unsigned, signed.txid);
    t.is(fate.kind, 'included');
    if (fate.kind !== 'included') return;
    t.is(fate.outcome.fee, unsigned.feeMax);
    const { transfers } = sol.transfersIn(solana, (await client.getBlock(fate.height)) as never, catalogueOf('sol'));
    t.like(
      transfers.find(({ to }) => to === SHOP),
      { txid: signed.txid, amount: unsigned.amount, tokenContract: token?.contract ?? null, from: [OURS] },
    );
    t.is((await client.fetchBalance(SHOP, token)).amount, unsigned.amount);
    t.is(
      (await client.fetchBalance(OURS, null)).amount,
      before - unsigned.feeMax - (token === null ? unsigned.amount : 0n),
    );
    t.is(sol.outcomesIn(solana, (await client.getBlock(fate.height)) as never, new Set([signed.txid])).length, 1);
  }
});

test('decisions 8: the simulated sol ledger refuses what the network refuses', async (t) => {
  const self = box();
  must(t, await self.deposit('0.01'));
  t.like(await build(self, null, 20_000_000n), { ok: false, code: 'INSUFFICIENT_FUNDS' });
  t.like(await build(self, null, 10_000_000n), { ok: false, code: 'INSUFFICIENT_GAS' });
  t.like(await build(self, null, 9_900_000n), { ok: false, code: 'INSUFFICIENT_RESERVE' });
  t.like(await build(self, USDC, 1n), { ok: false, code: 'INSUFFICIENT_FUNDS' });
  const client = await self.client();
  const { unsigned } = must(t, await build(self, null, 1_000_000n));
  const { unsigned: second } = must(t, await build(self, null, 9_000_000n));
  t.not(unsigned.payload, second.payload);
  const signed = solSigner.sign(solana, unsigned, { privateKey });
  t.like(await client.broadcast({ ...signed, txid: keyOf(9).address }), { kind: 'rejected_final' }, 'G28');
  const forged = Buffer.from(signed.payload, 'base64');
  forged[5]! ^= 1;
  t.like(await client.broadcast({ ...signed, payload: forged.toString('base64') }), { kind: 'rejected_final' });
  t.like(await client.broadcast(signed), { kind: 'accepted' });
  t.like(
    await client.broadcast(solSigner.sign(solana, second, { privateKey })),
    {
      kind: 'rejected_final',
      refusal: { code: 'INSUFFICIENT_FUNDS' },
    },
    'two builds saw the same money',
  );
});

test('L33 two equal payments built before either is sent are two transactions', async (t) => {
  const self = box();
  must(t, await self.deposit('1'));
  const payloads = new Set<string>();
  for (let i = 0; i < 8; i += 1) payloads.add(must(t, await build(self, null, 5_000_000n)).unsigned.payload);
  t.true(payloads.size > 1);
});
