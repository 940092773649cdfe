import { tokensWith } from '../../support/tokens.ts';
import test, { type ExecutionContext } from 'ava';
import type { ChainModule, Intent, Unsigned } from '../../../chains/chain.ts';
import { catalogueOf } from '../../../chains/catalogue.ts';
import { xlm } from '../../../chains/xlm/index.ts';
import { stellar } from '../../../chains/xlm/network.ts';
import { sandboxOf } from '../../../chains/sandbox-networks.ts';
import { createSandbox } from '../../../chain-watchers/sandbox/sandbox.ts';
import { xlmSigner } from '../../../edge/signing/signers/xlm.ts';
import { createMemoryAuditStore } from '../../../persistence/memory/audit-store.ts';
import { createMemorySandboxStore } from '../../../persistence/memory/sandbox-store.ts';
import { createMemoryWatchStore } from '../../../persistence/memory/watch-store.ts';
import { isRefusal, type Refusal } from '../../../protocol/errors.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import { addressKeyOf } from '../../../protocol/node/ids.ts';
import { ModelAccount } from '../../support/model-account.ts';
import { Recorder } from '../../support/watching.ts';
import { ours, XLM } from '../../support/xlm-node.ts';

const network = sandboxOf(stellar);

const ACCOUNT = accountIdOf('org_box', 'sandbox');
const OWN = ours(0),
  SECOND = ours(1),
  SHOP = ours(9).address;
const [USDC, OTHER_TOKEN] = [...catalogueOf('xlm').values()];
const HALF = XLM / 2n,
  FEE = 100n;

function box() {
  const nowMs = 1_700_000_000_000;
  const watch = createMemoryWatchStore(() => nowMs);
  const account = new ModelAccount();
  for (const [at, { address }] of [OWN, SECOND].entries()) {
    const parsed = xlm.parseAddress(network, address);
    if (isRefusal(parsed)) throw new Error(parsed.code);
    watch.addAddress(
      {
        addressKey: addressKeyOf('sandbox', 'xlm', parsed.bytes),
        addressId: `adr_${at + 1}`,
        accountId: ACCOUNT,
        address,
        purpose: 'deposit',
      },
      'sandbox',
      nowMs,
    );
  }
  const sandbox = createSandbox({
    sandbox: createMemorySandboxStore(watch.state),
    watch,
    audit: createMemoryAuditStore(watch.state),
    nowMs: () => nowMs,
    log: new Recorder(),
    tokens: tokensWith(catalogueOf),
    networkOf: () => stellar,
    isEnabled: () => true,
    loadModule: async () => xlm as ChainModule,
    accounts: {
      async wake() {
        const rows = watch.inbox(ACCOUNT);
        account.take(rows);
        watch.takeInbox(rows.map(({ id }) => id));
      },
      ask: async () => ({ ok: 'duplicate' }) as const,
    },
  });
  return {
    account,
    client: async () => (await sandbox.ledgers.open(ACCOUNT, 'xlm')).binding.client,
    deposit: (amount: string, tokenContract: string | null = null, address = OWN.address) =>
      sandbox.control.simulateDeposit(ACCOUNT, {
        chain: 'xlm',
        address,
        amount,
        tokenContract,
        autoConfirm: true,
        confirmAfterSeconds: null,
      }),
  };
}
type Box = ReturnType<typeof box>;

function must<T>(t: ExecutionContext, value: T | Refusal): T {
  if (isRefusal(value)) t.fail(JSON.stringify(value));
  return value as T;
}

async function build(self: Box, more: Partial<Intent> = {}): Promise<Unsigned | Refusal> {
  const intent: Intent = {
    chain: 'xlm',
    from: OWN.address,
    fromPath: OWN.path,
    to: SHOP,
    amount: 2n * XLM,
    token: null,
    tag: null,
    ...more,
  };
  return xlm.buildUnsigned(network, (await (await self.client()).fetchBuildInputs(intent)) as never, intent, null);
}

async function send(t: ExecutionContext, self: Box, more: Partial<Intent> = {}): Promise<Unsigned> {
  const unsigned = must(t, await build(self, more)),
    signed = xlmSigner.sign(network, unsigned, OWN.key);
  t.like(await (await self.client()).broadcast(signed), { kind: 'accepted' });
  t.like(await (await self.client()).getFate(unsigned, signed.txid), { kind: 'included', outcome: { success: true } });
  return unsigned;
}
const lineFor = (token: typeof USDC): Partial<Intent> => ({
  kind: 'trustline',
  to: OWN.address,
  token: token!,
  amount: 0n,
});

test('§4.7 M4 §8.6 xlm: the first deposit makes the account; what does not reach the minimum makes none', async (t) => {
  const self = box();
  t.like(await self.deposit('0.9999999'), { ok: false, code: 'INSUFFICIENT_RESERVE' });
  must(t, await self.deposit('5'));
  t.deepEqual(
    self.account.events.map(({ event }) => event),
    ['deposit_detected', 'deposit_confirmed'],
  );
  t.like(await (await self.client()).fetchBalance(OWN.address, null), {
    amount: 5n * XLM,
    reserved: XLM,
    available: 4n * XLM,
    accountExists: true,
  });
  t.like(await (await self.client()).fetchBalance(SHOP, null), { amount: 0n, accountExists: false });
});

test('§8.6 §4.2 xlm: each trust line adds half an XLM to what is reserved, and cannot be opened without it', async (t) => {
  const self = box(),
    client = await self.client();
  t.like(await build(self, lineFor(USDC)), { ok: false, code: 'CHAIN_REJECTED' }, 'no account');
  must(t, await self.deposit('1.5'));
  t.like(await build(self, lineFor(USDC)), { ok: false, code: 'INSUFFICIENT_RESERVE' }, '1.5 XLM and no fee');
  must(t, await self.deposit('0.001'));
  await send(t, self, lineFor(USDC));
  t.like(await client.fetchBalance(OWN.address, null), { reserved: XLM + HALF });
  t.like(await client.fetchBalance(OWN.address, USDC!), { amount: 0n, accountExists: true });
  t.like(await build(self, lineFor(USDC)), { ok: false, code: 'CONFLICT' });
  t.like(await build(self, lineFor(OTHER_TOKEN ?? USDC)), {
    ok: false,
    code: OTHER_TOKEN === undefined ? 'CONFLICT' : 'INSUFFICIENT_RESERVE',
  });
});

test('§8.6 M25 xlm: a payment leaves the reserve of the lines alone; everything leaves just that', async (t) => {
  const self = box(),
    client = await self.client();
  must(t, await self.deposit('10'));
  await send(t, self, lineFor(USDC));
  const spendable = 10n * XLM - XLM - HALF - 2n * FEE;
  t.like(await build(self, { amount: spendable + 1n }), { ok: false, code: 'INSUFFICIENT_RESERVE' });
  t.like(await build(self, { amount: 20n * XLM }), { ok: false, code: 'INSUFFICIENT_FUNDS' });
  t.is((await send(t, self, { amount: spendable })).amount, spendable);
  t.like(await client.fetchBalance(OWN.address, null), { amount: XLM + HALF, available: 0n });
  t.like(await client.fetchBalance(SHOP, null), { amount: spendable, accountExists: true });
});

test('§4.2 xlm: an address of the account takes a token only on a line; everybody outside has one', async (t) => {
  const self = box(),
    { contract: asset } = USDC!,
    payment: Partial<Intent> = { to: SECOND.address, token: USDC!, amount: XLM };
  for (const address of [OWN.address, SECOND.address]) must(t, await self.deposit('5', null, address));
  must(t, await self.deposit('9', asset));
  t.like(await build(self, payment), {
    code: 'DESTINATION_OPT_IN_REQUIRED',
    details: { chain: 'xlm', asset, destination: SECOND.address },
  });
  await send(t, self, { ...payment, to: SHOP });
  must(t, await self.deposit('1', asset, SECOND.address));
  await send(t, self, payment);
});
