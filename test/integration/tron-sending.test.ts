/** Payments built, signed, submitted, expired and proven dead on a ledger that enforces TRON's rules. */
import test from 'ava';
import {
  ChainUnavailable,
  MalformedReply,
  type BroadcastResult,
  type Signed,
  type Token,
  type Unsigned,
} from '../../chains/chain.ts';
import { createClient } from '../../chains/tron/client.ts';
import { estimateFee } from '../../chains/tron/fee.ts';
import { tron } from '../../chains/tron/network.ts';
import { decodeRaw, type RawData } from '../../chains/tron/raw-transaction.ts';
import { buildUnsigned } from '../../chains/tron/unsigned.ts';
import type { Knobs } from '../../developer/stand-ins/tron/api.ts';
import { keyOf } from '../../developer/stand-ins/tron/stand-in.ts';
import type { Trc20 } from '../../developer/stand-ins/tron/world.ts';
import {
  build,
  deployToken,
  endpointOf,
  heldBy,
  inputsOf,
  intentOf,
  must,
  openStage,
  PAYER,
  SENDER,
  SHOP,
  sign,
  TRX,
  type Stage,
} from '../support/tron-ledger.ts';

const rawOf = ({ payload }: Unsigned): RawData => {
  const read = decodeRaw(payload);
  if (!read.ok) throw new Error(read.reason);
  return read.raw;
};
const refused = (result: BroadcastResult) =>
  result.kind === 'rejected_final' ? { code: result.refusal.code, ...result.refusal.details } : result;
const EXPIRY_BLOCKS = 200;
const NEW = keyOf('a new account').address;

/** Builds, signs, submits and mines a payment; what became of it. */
async function send({ client, standIn }: Stage, more: Parameters<typeof intentOf>[0] = {}) {
  const unsigned = await build(client, more),
    signed = sign(unsigned),
    result = await client.broadcast(signed);
  standIn.ledger.mine(1);
  return { unsigned, signed, result, fate: await client.getFate(unsigned, signed.txid) };
}

test('G25 G26 G28 built by the cloud, signed at the edge, accepted, waiting, known, included, at the fee that was said', async (t) => {
  const stage = openStage(),
    { client, standIn } = stage;
  standIn.setAccount(SENDER.address, { freeNetUsed: 600n });
  const unsigned = await build(client),
    signed = sign(unsigned);
  t.deepEqual(await client.broadcast(signed), { kind: 'accepted', txid: signed.txid });
  t.deepEqual(await client.getFate(unsigned, signed.txid), { kind: 'pending' });
  t.deepEqual(await client.broadcast(signed), { kind: 'already_known', txid: signed.txid }, 'DUP, and it waits');
  standIn.ledger.mine(1);
  const fate = await client.getFate(unsigned, signed.txid),
    estimate = must(estimateFee(tron, await inputsOf(client), intentOf()));
  t.like(fate, {
    kind: 'included',
    height: standIn.ledger.headHeight(),
    outcome: { success: true, txid: signed.txid, fee: estimate.fee },
  });
  t.is(unsigned.feeMax, estimate.fee);
  t.is(heldBy(stage, SENDER.address), 99n * TRX - estimate.fee);
  t.is(heldBy(stage, SHOP), TRX + 1n);
  standIn.ledger.mine(30);
  t.deepEqual(
    await client.broadcast(signed),
    { kind: 'already_known', txid: signed.txid },
    'DUP, and it is in a block',
  );
});

test("T14 T15 the reference is the solidified head, the times are the newest block's: a machine's clock has no say", async (t) => {
  const stage = openStage(),
    { ledger } = stage.standIn,
    raw = rawOf(await build(stage.client));
  const newest = ledger.block(ledger.headHeight())!,
    solid = ledger.block(ledger.solidHeight())!;
  t.is(raw.expirationMs, newest.timeMs + 600_000);
  t.true(raw.timestampMs >= newest.timeMs && raw.timestampMs < newest.timeMs + 60_000);
  t.is(raw.refBlockBytes, solid.id.slice(12, 16));
  t.is(raw.refBlockHash, solid.id.slice(16, 32));
});

test('T14 every node knows the reference, also one that is behind and one after a reorg', async (t) => {
  const stage = openStage(),
    slow = stage.standIn.openNode(),
    signed = sign(await build(stage.client));
  slow.knobs.lagBlocks = 5;
  stage.standIn.ledger.reorg(10);
  t.is((await stage.clientOf([slow]).broadcast(signed)).kind, 'accepted');
});

test('T18 two equal payments under one head are two transactions, and both land', async (t) => {
  const stage = openStage(),
    first = sign(await build(stage.client)),
    second = sign(await build(stage.client));
  t.not(first.txid, second.txid);
  for (const signed of [first, second]) t.is((await stage.client.broadcast(signed)).kind, 'accepted');
  stage.standIn.ledger.mine(1);
  t.is(heldBy(stage, SHOP), 2n * TRX + 1n);
});

test('T19 T23 C7-60 a send-all leaves nothing: with free bandwidth, without it, and to an account that it creates', async (t) => {
  for (const [freeNetUsed, to] of [
    [0n, SHOP],
    [600n, SHOP],
    [0n, NEW],
    [600n, NEW],
  ] as const) {
    const stage = openStage();
    stage.standIn.setAccount(SENDER.address, { freeNetUsed });
    const { fate, unsigned } = await send(stage, { amount: 'all', to });
    t.like(fate, { kind: 'included', outcome: { success: true } });
    t.is(heldBy(stage, SENDER.address), 0n);
    t.is(heldBy(stage, to) - (to === SHOP ? 1n : 0n), unsigned.amount);
  }
});

test("T20 a payment to a missing account costs what was estimated, read from the chain's parameters", async (t) => {
  const stage = openStage(),
    { ledger } = stage.standIn;
  Object.assign(ledger.parameters, { createAccountFee: 300_000n, newAccountFee: 2_000_000n });
  const estimate = must(estimateFee(tron, await inputsOf(stage.client, { to: NEW }), intentOf({ to: NEW })));
  t.is(estimate.fee, 2_300_000n);
  const { fate } = await send(stage, { to: NEW });
  t.like(fate, { outcome: { fee: 2_300_000n } });
  t.is((await stage.client.fetchBalance(NEW, null)).amount, TRX);
});

test('T21 C7-58 C7-59 a token transfer costs the energy that was tried out, to a holder and to a new one, paid or rented, with penalty', async (t) => {
  for (const [energyLimit, to, penaltyPercent] of [
    [0n, SHOP, 0n],
    [0n, NEW, 0n],
    [200_000n, SHOP, 0n],
    [10_000n, SHOP, 0n],
    [0n, SHOP, 35n],
  ] as const) {
    const stage = openStage(),
      token = deployToken(stage, { [SENDER.address]: 500n, [SHOP]: 1n }, { penaltyPercent });
    stage.standIn.setAccount(SENDER.address, { energyLimit, freeNetUsed: 600n });
    const estimate = must(
      estimateFee(
        tron,
        await inputsOf(stage.client, { token, to, amount: 400n }),
        intentOf({ token, to, amount: 400n }),
      ),
    );
    const { fate, unsigned } = await send(stage, { token, to, amount: 400n });
    t.like(
      fate,
      { kind: 'included', outcome: { success: true, fee: estimate.fee } },
      `${energyLimit} ${penaltyPercent}`,
    );
    t.true(estimate.fee <= unsigned.feeMax);
    t.is((await stage.client.fetchBalance(to, token)).amount, to === SHOP ? 401n : 400n);
  }
});

test('T21 cake-tech/cake_wallet#2073 vultisig/vultisig-ios#4393 a limit from simulation lands where a ladder burns', async (t) => {
  const stage = openStage(),
    token = deployToken(stage, { [SENDER.address]: 500n });
  stage.standIn.ledger.parameters.energyFee = 420n;
  const { fate, unsigned } = await send(stage, { token, to: NEW, amount: 1n });
  t.like(fate, { outcome: { success: true } });
  t.is(rawOf(unsigned).feeLimit, (130_285n * 420n * 12n) / 10n);
});

test('T22 iexbase/tron-api#88 andelf/tronpy#94 a token-only address cannot pay until TRX has activated it', async (t) => {
  const stage = openStage(0n),
    token = deployToken(stage, { [SENDER.address]: 500n });
  const intent = intentOf({ token, amount: 'all' });
  t.like(buildUnsigned(tron, await stage.client.fetchBuildInputs(intent), intent, null), {
    code: 'INSUFFICIENT_GAS',
    details: { reason: 'the account is not activated' },
  });
  stage.standIn.send(PAYER, { type: 'TransferContract', to: SENDER.address, amount: 20n * TRX });
  stage.standIn.ledger.mine(19);
  const { fate } = await send(stage, { token, amount: 'all' });
  t.like(fate, { outcome: { success: true } });
  t.is((await stage.client.fetchBalance(SHOP, token)).amount, 500n);
});

test('T24 V17 pause and blacklist are found before anything is signed; a token that answers false is sent all the same', async (t) => {
  const stage = openStage(),
    token = deployToken(stage, { [SENDER.address]: 500n }, { returnsFalse: true });
  const { fate } = await send(stage, { token, amount: 100n });
  t.like(fate, { outcome: { success: true } }, 'USDT on TRON returns false');
  const edit = (change: Partial<Trc20>) =>
    stage.standIn.ledger.edit((world) => {
      Object.assign(world.contracts.get(token.contract)!, change);
    });
  const tried = async (amount = 1n) =>
    buildUnsigned(tron, await inputsOf(stage.client, { token, amount }), intentOf({ token, amount }), null);
  edit({ paused: true });
  t.like(await tried(), { code: 'CHAIN_REJECTED', details: { reason: 'Pausable: paused' } });
  edit({ paused: false, blacklist: new Set([SENDER.address]) });
  t.like(await tried(), { code: 'CHAIN_REJECTED', details: { reason: 'REVERT opcode executed' } });
  edit({ blacklist: new Set() });
  t.like(await tried(401n), { code: 'INSUFFICIENT_FUNDS', details: { balance: '400', required: '401' } });
});

test("T24 V17 a token that neither reverts nor moves anything is not sent; a node without logs of calls is taken at the contract's word", async (t) => {
  const stage = openStage(),
    idle = deployToken(stage, { [SENDER.address]: 500n }, { symbol: 'IDLE', movesNothing: true });
  const tried = async (token: Token) =>
    buildUnsigned(tron, await inputsOf(stage.client, { token, amount: 1n }), intentOf({ token, amount: 1n }), null);
  t.like(await tried(idle), { code: 'CHAIN_REJECTED', details: { reason: 'the token does not make the transfer' } });
  const honest = deployToken(stage, { [SENDER.address]: 500n }),
    quirk = deployToken(stage, { [SENDER.address]: 500n }, { symbol: 'QUIRK', returnsFalse: true });
  const without =
    (change: (logs: any[]) => unknown): Knobs['lie'] =>
    (_view, method, _body, answer) =>
      method === 'triggerconstantcontract'
        ? { ...(answer as object), logs: change((answer as any).logs ?? []) }
        : answer;
  stage.node.knobs.lie = without(() => undefined);
  t.true('payload' in (await tried(honest)));
  t.like(await tried(quirk), { code: 'CHAIN_REJECTED' });
  for (const change of [
    (logs: any[]) => logs.map((log) => ({ ...log, data: '0'.repeat(64) })),
    (logs: any[]) => logs.map((log) => ({ ...log, address: 'ab'.repeat(20) })),
    (logs: any[]) => logs.map(() => ({})),
  ]) {
    stage.node.knobs.lie = without(change);
    t.like(await tried(honest), { code: 'CHAIN_REJECTED' }, String(change));
  }
});

test('T24 a token that is paused between build and block fails there, costs its fee, and is told as failed', async (t) => {
  const stage = openStage(),
    token = deployToken(stage, { [SENDER.address]: 500n });
  const unsigned = await build(stage.client, { token, amount: 1n }),
    signed = sign(unsigned);
  stage.standIn.ledger.edit((world) => {
    (world.contracts.get(token.contract) as Trc20).paused = true;
  });
  t.is((await stage.client.broadcast(signed)).kind, 'accepted');
  stage.standIn.ledger.mine(1);
  const fate = await stage.client.getFate(unsigned, signed.txid);
  t.like(fate, { kind: 'included', outcome: { success: false } });
  if (fate.kind === 'included') t.regex(fate.outcome.reason!, /REVERT/);
});

test('6.2 T23 X1 one text for two shortages: the balance decides whether the amount or the fee is not covered', async (t) => {
  const stage = openStage(),
    unsigned = await build(stage.client),
    signed = sign(unsigned);
  stage.standIn.setAccount(SENDER.address, { freeNetUsed: 600n, balance: TRX });
  t.like(refused(await stage.client.broadcast(signed)), {
    code: 'INSUFFICIENT_GAS',
    balance: String(TRX),
    required: String(TRX),
    action: 'fund',
    expiresAtMs: rawOf(unsigned).expirationMs,
  });
  const second = sign(await buildAgain(stage));
  stage.standIn.setAccount(SENDER.address, { balance: TRX - 1n });
  t.like(refused(await stage.client.broadcast(second)), { code: 'INSUFFICIENT_FUNDS' });
  const third = sign(await buildAgain(stage));
  stage.standIn.setAccount(SENDER.address, { balance: 1_000n });
  t.like(refused(await stage.client.broadcast(third)), {
    code: 'INSUFFICIENT_GAS',
    reason: 'Account resource insufficient error.',
  });
});

/** A payment while there is enough, whatever the ledger says a moment later. */
async function buildAgain({ client, standIn }: Stage): Promise<Unsigned> {
  const { balance } = standIn.ledger.pendingWorld().accounts.get(SENDER.address)!;
  standIn.setAccount(SENDER.address, { balance: 100n * TRX });
  const unsigned = await build(client);
  standIn.setAccount(SENDER.address, { balance });
  return unsigned;
}

test('6.2 a wrong signature is refused for good; a mistake of ours in the txid never leaves the house (G28)', async (t) => {
  const stage = openStage(),
    unsigned = await build(stage.client),
    signed = sign(unsigned);
  const other = sign({ ...unsigned, from: PAYER.address }, {
    ...SENDER,
    key: { privateKey: PAYER.privateKey },
  } as never);
  t.like(refused(await stage.client.broadcast(other)), { code: 'CHAIN_REJECTED', action: 'check_permissions' });
  await t.throwsAsync(() => stage.client.broadcast({ ...signed, txid: '00'.repeat(32) }), { message: /not the hash/ });
  await t.throwsAsync(() => stage.client.broadcast({ ...signed, payload: '0a' }), { message: /do not decode/ });
  stage.node.knobs.lie = (_view, method, _body, answer) =>
    method === 'broadcasthex'
      ? { ...(answer as object), result: true, code: 'SUCCESS', txid: '00'.repeat(32) }
      : answer;
  await t.throwsAsync(() => stage.client.broadcast(signed), { instanceOf: MalformedReply });
});

const code = (name: string, message = ''): Knobs['broadcast'] => ({ code: name, message });

test('6.2 G26 a busy, unconnected or stalled node proves nothing: the same bytes go to the next one', async (t) => {
  const stage = openStage(),
    busy = stage.standIn.openNode(),
    client = stage.clientOf([busy, stage.node]);
  for (const name of [
    'SERVER_BUSY',
    'NO_CONNECTION',
    'NOT_ENOUGH_EFFECTIVE_CONNECTION',
    'BLOCK_UNSOLIDIFIED',
    'OTHER_ERROR',
    'TAPOS_ERROR',
  ]) {
    busy.knobs.broadcast = code(name, 'for a reason');
    t.like(await stage.clientOf([busy]).broadcast(sign(await build(stage.client))), { kind: 'unknown' }, name);
    const signed = sign(await build(stage.client));
    const results = [await client.broadcast(signed), await client.broadcast(signed)];
    t.true(
      results.every(({ kind }) => kind === 'accepted' || kind === 'already_known'),
      name,
    );
  }
  busy.knobs.down = true;
  t.like(await stage.clientOf([busy]).broadcast(sign(await build(stage.client))), { kind: 'unknown' });
});

test('6.2 G26 a refusal is final only when nobody took, knows or doubts the bytes; a node that is behind is no judge', async (t) => {
  const stage = openStage(),
    second = stage.standIn.openNode(),
    signed = sign(await build(stage.client));
  const reject = code('CONTRACT_VALIDATE_ERROR', 'Contract validate error : Amount must be greater than 0.');
  stage.node.knobs.broadcast = reject;
  second.knobs.broadcast = code('SERVER_BUSY');
  t.like(await stage.clientOf([stage.node, second]).broadcast(signed), { kind: 'unknown' });
  second.knobs.broadcast = reject;
  t.like(refused(await stage.clientOf([stage.node, second]).broadcast(signed)), { code: 'INVALID_INPUT' });
  second.knobs.broadcast = null;
  const client = stage.clientOf([stage.node, second]);
  t.true(['accepted', 'already_known'].includes((await client.broadcast(signed)).kind));
  second.knobs.broadcast = reject;
  t.deepEqual(
    await client.broadcast(signed),
    { kind: 'already_known', txid: signed.txid },
    'refused by both, and one holds it',
  );
  const lagging = stage.clientOf([stage.node]);
  stage.standIn.ledger.mine(5);
  await lagging.getHead();
  stage.node.knobs.lagBlocks = 4;
  t.like(await lagging.broadcast(sign(await build(stage.clientOf([second])))), { kind: 'unknown' });
});

test('6.2 a node without broadcasthex takes the same transaction as JSON: TRX and tokens, the same txid', async (t) => {
  const stage = openStage(),
    token = deployToken(stage, { [SENDER.address]: 500n });
  stage.node.knobs.missing.add('wallet/broadcasthex');
  for (const more of [{}, { amount: 'all' }, { token, amount: 3n }] as const) {
    const { result, signed, fate } = await send(stage, more);
    if (more === undefined) continue;
    t.deepEqual(result, { kind: 'accepted', txid: signed.txid });
    t.like(fate, { outcome: { success: true } });
    stage.standIn.setAccount(SENDER.address, { balance: 100n * TRX });
  }
});

test('6.2 trustwallet/wallet-core#1532 its messages in hex are read', async (t) => {
  const stage = openStage(),
    signed = sign(await build(stage.client));
  stage.node.knobs.missing.add('wallet/broadcasthex');
  stage.standIn.setAccount(SENDER.address, { balance: 0n, freeNetUsed: 600n });
  t.like(refused(await stage.client.broadcast(signed)), {
    code: 'INSUFFICIENT_GAS',
    reason: 'Account resource insufficient error.',
  });
});

test('6.2 T17 DUP after a refused first try is no acceptance: unknown, until the proof of death', async (t) => {
  const stage = openStage(),
    unsigned = await build(stage.client),
    signed = sign(unsigned);
  stage.standIn.setAccount(SENDER.address, { balance: 0n });
  t.is((await stage.client.broadcast(signed)).kind, 'rejected_final');
  t.deepEqual(await stage.client.broadcast(signed), { kind: 'unknown', reason: 'tron-1: it has seen the txid before' });
  t.like(await stage.client.getFate(unsigned, signed.txid), { kind: 'unknown' });
});

test('G27 T17 6.4-3 java-tron#5627 an accepted transaction that vanished: unknown until it has expired for the solidified head, then dead', async (t) => {
  const stage = openStage(),
    {
      client,
      standIn: { ledger },
    } = stage,
    unsigned = await build(client),
    signed = sign(unsigned);
  await client.broadcast(signed);
  ledger.mine(1);
  t.like(await client.getFate(unsigned, signed.txid), { kind: 'included' });
  ledger.reorg(1);
  t.like(await client.getFate(unsigned, signed.txid), {
    kind: 'unknown',
    reason: 'the transaction has not expired for the solidified head',
  });
  t.like(await client.broadcast(signed), { kind: 'unknown' }, 'the node remembers the txid and holds nothing');
  const { expirationMs } = rawOf(unsigned);
  while (ledger.block(ledger.headHeight())!.timeMs <= expirationMs) ledger.mine(1);
  t.like(await client.getFate(unsigned, signed.txid), { kind: 'unknown' }, 'the newest head is not the solidified one');
  while (ledger.block(ledger.solidHeight())!.timeMs < expirationMs) ledger.mine(1);
  t.like(await client.getFate(unsigned, signed.txid), { kind: 'unknown' }, 'not on the very millisecond');
  ledger.mine(1);
  const dead = await client.getFate(unsigned, signed.txid);
  t.is(dead.kind, 'dead');
  if (dead.kind === 'dead')
    t.regex(
      dead.proof,
      new RegExp(
        `expired at ${expirationMs}; block \\d+ of \\d+ is solidified and no block up to it has ${signed.txid}`,
      ),
    );
});

test('G27 T17 what is in a block at the last moment is never called dead', async (t) => {
  const stage = openStage(),
    {
      client,
      standIn: { ledger },
    } = stage,
    unsigned = await build(client),
    signed = sign(unsigned);
  ledger.mine(EXPIRY_BLOCKS - 1);
  t.is((await client.broadcast(signed)).kind, 'accepted');
  ledger.mine(60);
  t.like(await client.getFate(unsigned, signed.txid), { kind: 'included' });
  stage.node.knobs.lie = (view, method, _body, answer) =>
    view === 'wallet' && method.startsWith('gettransaction') && method !== 'gettransactioninfobyblocknum' ? {} : answer;
  t.like(await client.getFate(unsigned, signed.txid), {
    kind: 'unknown',
    reason: 'the transaction is in /walletsolidity',
  });
});

test('G27 a node that lost its index, its history or its honesty proves no death; a second one must agree', async (t) => {
  const stage = openStage(),
    { standIn } = stage,
    { ledger } = standIn,
    unsigned = await build(stage.client),
    signed = sign(unsigned);
  await stage.client.broadcast(signed);
  ledger.mine(EXPIRY_BLOCKS + 60);
  const liar = standIn.openNode();
  liar.knobs.lie = (_view, method, _body, answer) =>
    method.startsWith('gettransaction') && method !== 'gettransactioninfobyblocknum' ? {} : answer;
  for (let asked = 0; asked < 4; asked += 1)
    t.not((await stage.clientOf([liar, stage.node]).getFate(unsigned, signed.txid)).kind, 'dead');
  stage.node.knobs.down = true;
  const client = stage.clientOf([liar, stage.node]),
    fates: string[] = [];
  for (let asked = 0; asked < 6; asked += 1)
    fates.push(
      await client.getFate(unsigned, signed.txid).then(
        ({ kind }) => kind,
        (error: Error) => error.name,
      ),
    );
  t.deepEqual(
    [...new Set(fates)].sort(),
    ['ChainUnavailable', 'unknown'],
    'while the second is down, and after it was given up',
  );
  t.is(
    (await stage.clientOf([liar]).getFate(unsigned, signed.txid)).kind,
    'dead',
    'where there is one node, it is believed',
  );
});

test('G27 a node without infos of the time of the payment proves no death', async (t) => {
  const stage = openStage(),
    { standIn } = stage,
    { ledger } = standIn;
  standIn.send(PAYER, { type: 'TransferContract', to: SHOP, amount: 1n });
  ledger.mine(1);
  const unsigned = await build(stage.client),
    { txid } = sign(unsigned);
  ledger.mine(EXPIRY_BLOCKS + 60);
  t.is((await stage.client.getFate(unsigned, txid)).kind, 'dead');
  stage.node.knobs.keepsInfos = false;
  t.like(await stage.client.getFate(unsigned, txid), {
    kind: 'unknown',
    reason: 'the node keeps no transactions of that time',
  });
  stage.node.knobs.keepsInfos = true;
  stage.node.knobs.lie = (_view, method, body, answer) =>
    method === 'getblockbynum' && body['num'] === unsigned.readAtHeight ? {} : answer;
  t.like(await stage.client.getFate(unsigned, txid), { kind: 'unknown' });
});

test('6.2 T17 java-tron#2883 what a node calls expired is refused for good only with the proof of death', async (t) => {
  const stage = openStage(),
    {
      client,
      standIn: { ledger },
    } = stage,
    signed: Signed = sign(await build(client));
  ledger.mine(EXPIRY_BLOCKS + 2);
  t.like(await client.broadcast(signed), {
    kind: 'unknown',
    reason: 'Transaction expired: the transaction has not expired for the solidified head',
  });
  ledger.mine(30);
  const again = openedAgain(stage);
  t.like(refused(await again.broadcast(signed)), {
    code: 'CHAIN_REJECTED',
    reason: 'Transaction expired',
    action: 'rebuild',
  });
});

/** A client over a fresh node of the same ledger, which remembers no txid. */
function openedAgain(stage: Stage) {
  return stage.clientOf([stage.standIn.openNode()]);
}

test('G26 without any endpoint to ask nothing is proven', async (t) => {
  const stage = openStage(),
    signed = sign(await build(stage.client));
  const none = {
    endpoints: [endpointOf(stage.node)],
    pick: () => {
      throw new ChainUnavailable('tron', 'backing off');
    },
    attempt: async () => {
      throw new ChainUnavailable('tron', 'backing off');
    },
    report: () => undefined,
  };
  t.deepEqual(await createClient(tron, none as never, new Map()).broadcast(signed), {
    kind: 'unknown',
    reason: 'every endpoint is backing off',
  });
});
