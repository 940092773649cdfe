/**
 * Decisions 6: what a malicious cloud must not be able to do. Every lie gets no signature; the truth beside it gets
 * one.
 */
import test, { type ExecutionContext } from 'ava';
import { decodeSigned, encodeUnsigned, type EvmTransaction } from '../../../chains/evm/envelope.ts';
import { encodeTransfer } from '../../../chains/evm/abi.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { BuiltJson } from '../../../protocol/schema/transactions.ts';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';
import {
  builtFor,
  FIRST_PATH,
  RECEIVER,
  THIEF,
  transactionFor,
  USDC,
  USDT,
  type Wanted,
} from '../../support/edge/built.ts';
import { eventually, FIRST, SECOND, startTestEdge, type EdgeReply, type TestEdge } from '../../support/edge/edges.ts';

const NATIVE: Wanted = { from: FIRST, to: RECEIVER, amount: 10n ** 18n };
const TOKEN: Wanted = { from: FIRST, to: RECEIVER, amount: 25_000_000n, tokenContract: USDC };
const AT = '2026-01-01T00:00:00.000Z';
const ID = newId('txn', 1_700_000_000_000);

interface Stage {
  readonly cloud: HostileCloud;
  readonly edge: TestEdge;
  build(wanted: Wanted, told: BuiltJson): Promise<EdgeReply>;
  broadcast(id: string): Promise<EdgeReply>;
}

async function stage(t: ExecutionContext, env: Record<string, string> = {}): Promise<Stage> {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const edge = await startTestEdge(t, cloud.url, { env: { EDGE_CHAINS: 'eth,bsc,polygon,avax,base', ...env } });
  await edge.edge.registered;
  await eventually('the edge leads', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
  return {
    cloud,
    edge,
    async build({ from, to, amount, tokenContract, sendAll }, told) {
      cloud.on('POST /v1/transactions/unsigned', () => ({ data: told, status: 201 }));
      return edge.ask('POST', '/v1/transactions/unsigned', {
        chain: 'eth',
        from,
        to,
        amount: sendAll === true ? 'all' : amount.toString(),
        ...(tokenContract == null ? {} : { tokenContract }),
      });
    },
    broadcast: (id) => edge.ask('POST', `/v1/transactions/${id}/broadcast`),
  };
}

/** The cloud has this id's transaction and every path leads to no signature. */
async function noSignature(t: ExecutionContext, { cloud, edge, broadcast }: Stage, id: string): Promise<void> {
  const refused = await broadcast(id);
  t.is(refused.error?.code, 'SIGNED_BATCH_REJECTED');
  t.is(refused.error?.details['reason'], 'no_instruction');
  const asked = await cloud.sign(id);
  t.false(asked.ok);
  t.is(asked.code, 'SIGNED_BATCH_REJECTED');
  t.deepEqual(cloud.submitted, []);
  t.is((await edge.ask('GET', '/v1/edge/outbox')).data?.['outboxDepth'], 0);
}

for (const [what, wanted] of [
  ['a native payment', NATIVE],
  ['a token payment', TOKEN],
] as const) {
  test(`§4.2 ${what} that the cloud builds truthfully is signed and submitted once`, async (t) => {
    const { cloud, edge, build, broadcast } = await stage(t);
    const transaction = transactionFor(wanted);
    const built = await build(wanted, builtFor(wanted, transaction, ID));
    t.is(built.status, 201, built.text);
    t.is(built.data?.['id'], ID);
    const sent = await broadcast(ID);
    t.is(sent.status, 200, sent.text);
    t.is(cloud.submitted.length, 1);
    const [{ signedPayload, txid, leaseEpoch }] = cloud.submitted as [HostileCloud['submitted'][number]];
    const decoded = decodeSigned(signedPayload);
    t.true(decoded.ok);
    if (decoded.ok) {
      t.is(decoded.from, FIRST);
      t.deepEqual(decoded.transaction, transaction);
    }
    t.is(leaseEpoch, cloud.leaseEpoch);
    t.is(sent.data?.['txid'], txid);
    t.is(cloud.sessions[0], edge.edge.sessionId);
    // Asked again it submits the same bytes: there is no second signature to be had.
    await broadcast(ID);
    t.true((await cloud.sign(ID)).ok);
    t.deepEqual([...new Set(cloud.submitted.map((each) => each.signedPayload))], [signedPayload]);
  });
}

/** A lie in the signed bytes, told with a summary that matches them, and with one that hides them. */
const BYTES: readonly (readonly [lie: string, wanted: Wanted, changed: Partial<EvmTransaction>])[] = [
  ['another destination', NATIVE, { to: THIEF }],
  ['a larger amount', NATIVE, { value: NATIVE.amount + 1n }],
  ['a smaller amount', NATIVE, { value: NATIVE.amount - 1n }],
  ['amount zero', NATIVE, { value: 0n }],
  ['another chain id', NATIVE, { chainId: 137 }],
  ['chain id zero', NATIVE, { chainId: 0 }],
  ['data beside a native payment', NATIVE, { data: '0x1234' }],
  ['a token transfer in place of a native payment', NATIVE, { to: USDC, value: 0n, data: encodeTransfer(THIEF, 5n) }],
  ['a fee above the cap', NATIVE, { maxFeePerGas: 10_000_000_000_000n }],
  ['a gas limit above any block', NATIVE, { gasLimit: 50_000_000n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }],
  ['an old envelope where the chain has none', NATIVE, { type: 0, maxPriorityFeePerGas: 30_000_000_000n }],
  ['another token', TOKEN, { to: USDT }],
  ['another receiver of the token', TOKEN, { data: encodeTransfer(THIEF, TOKEN.amount) }],
  ['another amount of the token', TOKEN, { data: encodeTransfer(RECEIVER, TOKEN.amount * 2n) }],
  ['native value beside the token', TOKEN, { value: 1n }],
  ['an approval in place of a transfer', TOKEN, { data: `0x095ea7b3${encodeTransfer(THIEF, TOKEN.amount).slice(10)}` }],
  ['bytes behind the transfer', TOKEN, { data: `${encodeTransfer(RECEIVER, TOKEN.amount)}00` }],
  [
    'a transfer with dirty padding',
    TOKEN,
    { data: encodeTransfer(RECEIVER, TOKEN.amount).replace('000000000000000000000000', '000000000000000000000001') },
  ],
  ['a native payment in place of the token', TOKEN, { to: RECEIVER, value: 5n, data: '0x', gasLimit: 21_000n }],
];

test('V31, decisions 6: a cloud that lies in the bytes gets no signature, whatever its summary says', async (t) => {
  const cast = await stage(t);
  for (const [lie, wanted, changed] of BYTES) {
    const transaction = transactionFor(wanted, changed);
    const id = newId('txn', Date.now());
    const honestSummary = builtFor(wanted, transactionFor(wanted), id);
    const hidden: BuiltJson = {
      ...honestSummary,
      unsigned: { ...honestSummary.unsigned, payload: encodeUnsigned(transaction) },
    };
    const matching = builtFor({ ...wanted, to: transaction.to, amount: transaction.value }, transaction, id);
    for (const told of [hidden, matching, builtFor(wanted, transaction, id)]) {
      const reply = await cast.build(wanted, told);
      t.is(reply.error?.code, 'SIGNED_BATCH_REJECTED', `${lie}: ${reply.text}`);
      await noSignature(t, cast, id);
    }
  }
  t.true(
    cast.edge.logged.filter(({ msg, alarm }) => msg === 'build_refused' && alarm === true).length >= BYTES.length,
    'each is an alarm',
  );
});

/** A lie in the words around truthful bytes. */
const WORDS: readonly (readonly [lie: string, change: (told: BuiltJson) => BuiltJson])[] = [
  ['the receiver shown', (told) => ({ ...told, to: THIEF })],
  ['the amount shown', (told) => ({ ...told, amount: '1' })],
  ['the token shown', (told) => ({ ...told, tokenContract: USDT })],
  ['the chain shown', (told) => ({ ...told, chain: 'bsc' })],
  ['the fee shown', (told) => ({ ...told, feeEstimate: { ...told.feeEstimate, feeMax: '1' } })],
  ['the tag shown', (told) => ({ ...told, chainTag: '7' })],
  ['the chain of the payload', (told) => ({ ...told, unsigned: { ...told.unsigned, chain: 'bsc' } })],
  ['the receiver of the payload', (told) => ({ ...told, to: THIEF, unsigned: { ...told.unsigned, to: THIEF } })],
  ['the amount of the payload', (told) => ({ ...told, amount: '1', unsigned: { ...told.unsigned, amount: '1' } })],
  [
    'the highest fee of the payload',
    (told) => ({
      ...told,
      feeEstimate: { ...told.feeEstimate, feeMax: '0' },
      unsigned: { ...told.unsigned, feeMax: '0' },
    }),
  ],
  [
    'the fee rate of the payload',
    (told) => ({ ...told, unsigned: { ...told.unsigned, fee: { ...told.unsigned.fee, maxFeePerGas: '1' } } }),
  ],
  ['a send-all that nobody asked for', (told) => ({ ...told, unsigned: { ...told.unsigned, sendAll: true } })],
  [
    'the nonce of the payload',
    (told) => ({ ...told, unsigned: { ...told.unsigned, replayKey: { kind: 'nonce', value: 9 } } }),
  ],
  [
    'the kind of replay key',
    (told) => ({ ...told, unsigned: { ...told.unsigned, replayKey: { kind: 'expiry', value: '3' } } }),
  ],
  ['the kind of payment', (told) => ({ ...told, unsigned: { ...told.unsigned, kind: 'trustline' } })],
  [
    "a path that is another address's",
    (told) => ({ ...told, unsigned: { ...told.unsigned, fromPath: "m/44'/60'/0'/0/1" } }),
  ],
  ['a path of another account', (told) => ({ ...told, unsigned: { ...told.unsigned, fromPath: "m/44'/60'/1'/0/0" } })],
  ['a path that is none', (told) => ({ ...told, unsigned: { ...told.unsigned, fromPath: 'm/0' } })],
  [
    'the sender',
    (told) => ({ ...told, from: SECOND, unsigned: { ...told.unsigned, from: SECOND, fromPath: "m/44'/60'/0'/0/1" } }),
  ],
  ['a payload that is no transaction', (told) => ({ ...told, unsigned: { ...told.unsigned, payload: '0x02c0' } })],
  [
    'a payload with an access list',
    (told) => ({ ...told, unsigned: { ...told.unsigned, payload: withAccessList(told.unsigned.payload) } }),
  ],
  ['no payload', (told) => ({ ...told, unsigned: undefined as unknown as BuiltJson['unsigned'] })],
];

/**
 * The same fields in a type 1 envelope with an access list, and in a creation, are covered by the signer's own tests.
 */
function withAccessList(payload: string): string {
  return `${payload.slice(0, -2)}c1c0`;
}

test('decisions 6: a cloud that lies in the words around the bytes gets no signature', async (t) => {
  const cast = await stage(t);
  for (const [lie, change] of WORDS) {
    const id = newId('txn', Date.now());
    const reply = await cast.build(NATIVE, change(builtFor(NATIVE, transactionFor(NATIVE), id)));
    t.is(reply.error?.code, 'SIGNED_BATCH_REJECTED', `${lie}: ${reply.text}`);
    await noSignature(t, cast, id);
  }
});

test('decisions 2: without an instruction of an own caller nothing is signed', async (t) => {
  const cast = await stage(t);
  await noSignature(t, cast, ID);
});

test('decisions 6: PATCH may change fee fields only, and the amount of a send-all downwards', async (t) => {
  const cast = await stage(t);
  const first = transactionFor(NATIVE);
  const dearer = { maxFeePerGas: 40_000_000_000n, maxPriorityFeePerGas: 2_000_000_000n };
  t.is((await cast.build(NATIVE, builtFor(NATIVE, first, ID))).status, 201);
  const reprice = async (id: string, told: BuiltJson) => {
    cast.cloud.on(`PATCH /v1/transactions/unsigned/${id}`, () => ({ data: told }));
    return cast.edge.ask('PATCH', `/v1/transactions/unsigned/${id}`);
  };
  for (const [lie, wanted, transaction] of [
    ['destination', { ...NATIVE, to: THIEF }, transactionFor({ ...NATIVE, to: THIEF }, dearer)],
    ['amount', { ...NATIVE, amount: 1n }, transactionFor({ ...NATIVE, amount: 1n }, dearer)],
    ['token', TOKEN, transactionFor(TOKEN, dearer)],
  ] as const)
    t.is((await reprice(ID, builtFor(wanted, transaction, ID))).error?.code, 'SIGNED_BATCH_REJECTED', lie);
  t.is(
    (await reprice(ID, builtFor(NATIVE, transactionFor(NATIVE, dearer), newId('txn', 1)))).error?.code,
    'SIGNED_BATCH_REJECTED',
    'another id',
  );
  t.is((await reprice(ID, builtFor(NATIVE, transactionFor(NATIVE, dearer), ID))).status, 200);
  t.is((await cast.broadcast(ID)).status, 200);
  const decoded = decodeSigned(cast.cloud.submitted[0]!.signedPayload);
  t.is(
    decoded.ok ? decoded.transaction.maxFeePerGas : null,
    dearer.maxFeePerGas,
    'the repriced bytes are the signed ones',
  );

  const all: Wanted = { ...NATIVE, sendAll: true };
  const allId = newId('txn', Date.now());
  const at = (amount: bigint, more: Partial<EvmTransaction> = {}) =>
    builtFor({ ...all, amount }, transactionFor({ ...all, amount }, { nonce: 4, ...more }), allId);
  t.is((await cast.build(all, at(NATIVE.amount))).status, 201);
  t.is((await reprice(allId, at(NATIVE.amount + 1n, dearer))).error?.code, 'SIGNED_BATCH_REJECTED');
  t.is((await reprice(allId, at(NATIVE.amount - 1_000n, dearer))).status, 200);
  t.is(
    (await reprice(allId, at(NATIVE.amount - 999n, dearer))).error?.code,
    'SIGNED_BATCH_REJECTED',
    'downwards for good',
  );
});

test('G27, 1.6-7: an instruction is signed under one nonce, and a nonce pays one instruction until it is proven free', async (t) => {
  const cast = await stage(t);
  await cast.build(NATIVE, builtFor(NATIVE, transactionFor(NATIVE), ID));
  t.is((await cast.broadcast(ID)).status, 200);
  // The same instruction under another nonce would be a second payment.
  cast.cloud.on(`PATCH /v1/transactions/unsigned/${ID}`, () => ({
    data: builtFor(NATIVE, transactionFor(NATIVE, { nonce: 4 }), ID),
  }));
  t.is(
    (await cast.edge.ask('PATCH', `/v1/transactions/unsigned/${ID}`)).error?.details['reason'],
    'repricing_changed_the_replay_key',
  );
  // Another instruction under the same nonce.
  const other: Wanted = { ...NATIVE, amount: 7n };
  const otherId = newId('txn', Date.now());
  const told = builtFor(other, transactionFor(other), otherId);
  cast.cloud.on(`GET /v1/transactions/${ID}`, () => ({ data: { id: ID, status: 'broadcast' } }));
  t.is((await cast.build(other, told)).status, 201, 'F43: the nonce of a build is a proposal');
  t.is((await cast.broadcast(otherId)).error?.details['reason'], 'nonce_used');
  cast.cloud.on(`GET /v1/transactions/${ID}`, () => ({ data: { id: ID, status: 'failed' } }));
  t.is((await cast.broadcast(otherId)).status, 200, 'V39: the nonce of a failed one is used again');
  // A nonce that lies in wait.
  const far: Wanted = { ...NATIVE, amount: 8n };
  t.is(
    (await cast.build(far, builtFor(far, transactionFor(far, { nonce: 1_000_000 })))).error?.details['reason'],
    'nonce_outside_window',
  );
});

test('decisions 6: an id that the cloud gives twice does not replace what was asked under it', async (t) => {
  const cast = await stage(t);
  t.is((await cast.build(NATIVE, builtFor(NATIVE, transactionFor(NATIVE), ID))).status, 201);
  const other: Wanted = { ...NATIVE, to: THIEF };
  const reply = await cast.build(other, builtFor(other, transactionFor(other, { nonce: 9 }), ID));
  t.is(reply.error?.details['reason'], 'id_used_before');
  t.is((await cast.broadcast(ID)).status, 200);
  const decoded = decodeSigned(cast.cloud.submitted[0]!.signedPayload);
  t.is(decoded.ok ? decoded.transaction.to : null, RECEIVER);
});

test('decisions 3: EDGE_WITHDRAWAL_CAP_ETH bounds what local keys can send; what is refused is not signed', async (t) => {
  const cast = await stage(t, { EDGE_WITHDRAWAL_CAP_ETH: (2n * 10n ** 18n).toString() });
  const ids = [newId('txn', 1), newId('txn', 2)] as const;
  for (const [index, id] of ids.entries()) {
    t.is((await cast.build(NATIVE, builtFor(NATIVE, transactionFor(NATIVE, { nonce: index }), id))).status, 201);
  }
  t.is((await cast.broadcast(ids[0])).status, 200);
  const refused = await cast.broadcast(ids[1]);
  t.is(refused.status, 403);
  t.is(refused.error?.code, 'AMOUNT_CAP_EXCEEDED');
  t.is(cast.cloud.submitted.length, 1);
});

test('found F6 a native cap bounds tokens too: one without a cap is refused, one with a cap is summed over the window', async (t) => {
  const native = { EDGE_WITHDRAWAL_CAP_ETH: (10n ** 18n).toString() };
  const unnamed = await stage(t, native);
  t.is((await unnamed.build(TOKEN, builtFor(TOKEN, transactionFor(TOKEN), ID))).status, 201);
  t.like((await unnamed.broadcast(ID)).error, {
    code: 'AMOUNT_CAP_EXCEEDED',
    details: { setting: 'EDGE_WITHDRAWAL_TOKEN_CAPS_ETH', tokenContract: USDC, cap: '0', amount: '25000000' },
  });
  t.is(unnamed.cloud.submitted.length, 0);
  const named = await stage(t, { ...native, EDGE_WITHDRAWAL_TOKEN_CAPS_ETH: `${USDC}=30000000` });
  const ids = [newId('txn', 1), newId('txn', 2)] as const;
  for (const [index, id] of ids.entries())
    t.is((await named.build(TOKEN, builtFor(TOKEN, transactionFor(TOKEN, { nonce: index }), id))).status, 201);
  t.is((await named.broadcast(ids[0])).status, 200);
  t.like((await named.broadcast(ids[1])).error, {
    code: 'AMOUNT_CAP_EXCEEDED',
    details: { setting: 'EDGE_WITHDRAWAL_TOKEN_CAPS_ETH', cap: '30000000', spent: '25000000' },
  });
  t.is(named.cloud.submitted.length, 1);
});

test('§7 with a full outbox nothing is signed: EDGE_OUTBOX_FULL', async (t) => {
  const cast = await stage(t, { EDGE_OUTBOX_CAPACITY: '1' });
  const ids = [newId('txn', 1), newId('txn', 2)] as const;
  for (const [index, id] of ids.entries())
    await cast.build(NATIVE, builtFor(NATIVE, transactionFor(NATIVE, { nonce: index }), id));
  cast.cloud.on('POST /v1/edge/transactions/{id}/signed', () => ({ code: 'SERVICE_UNAVAILABLE' }));
  t.is((await cast.broadcast(ids[0])).error?.code, 'SERVICE_UNAVAILABLE');
  const refused = await cast.broadcast(ids[1]);
  t.is(refused.status, 507);
  t.is(refused.error?.code, 'EDGE_OUTBOX_FULL');
  t.false((await cast.cloud.sign(ids[1])).ok);
});

test('only the leader signs: a follower passes the broadcast on, answers LEASE_HELD to the cloud, and UPSTREAM_UNAVAILABLE without one', async (t) => {
  const cast = await stage(t);
  await cast.build(NATIVE, builtFor(NATIVE, transactionFor(NATIVE), ID));
  cast.cloud.role = 'follower';
  cast.cloud.leaseEpoch += 1;
  cast.cloud.push('lease', { role: 'follower', leaseEpoch: cast.cloud.leaseEpoch, leaseTtlMs: 30_000 });
  await eventually('the lease is lost', () => cast.edge.logged.some(({ msg }) => msg === 'lease_lost'));
  cast.cloud.on('POST /v1/transactions/{id}/broadcast', () => ({ code: 'EDGE_NO_LEADER' }));
  const held = await cast.broadcast(ID);
  t.is(held.status, 423);
  t.is(held.error?.code, 'EDGE_NO_LEADER');
  t.like(await cast.cloud.sign(ID), { ok: false, code: 'LEASE_HELD' });
  await cast.cloud.close();
  await eventually('the stream is gone', async () => (await cast.broadcast(ID)).error?.code === 'UPSTREAM_UNAVAILABLE');
  t.deepEqual(cast.cloud.submitted, []);
});

test('§7 a sign frame under an old epoch is refused', async (t) => {
  const cast = await stage(t);
  await cast.build(NATIVE, builtFor(NATIVE, transactionFor(NATIVE), ID));
  t.like(await cast.cloud.sign(ID, cast.cloud.leaseEpoch - 1), { ok: false, code: 'LEASE_EPOCH_STALE' });
  t.like(await cast.cloud.sign(ID, cast.cloud.leaseEpoch + 1), { ok: false, code: 'LEASE_EPOCH_STALE' });
  t.deepEqual(cast.cloud.submitted, []);
});

test('G25, G26: what the cloud does not take is kept and submitted again, the same bytes; what it decided is not', async (t) => {
  const cast = await stage(t);
  await cast.build(NATIVE, builtFor(NATIVE, transactionFor(NATIVE), ID));
  const tried: string[] = [];
  cast.cloud.on('POST /v1/edge/transactions/{id}/signed', ({ body }) => {
    tried.push((JSON.parse(body) as { signedPayload: string }).signedPayload);
    return tried.length < 3
      ? { code: 'SERVICE_UNAVAILABLE' }
      : { code: 'CHAIN_REJECTED', details: { reason: 'nonce too low' } };
  });
  const first = await cast.broadcast(ID);
  // Or its own word, where the cloud's did not come in time.
  t.regex(first.error?.code ?? '', /^(?:SERVICE|UPSTREAM)_UNAVAILABLE$/);
  t.is(first.error?.details['signed'], true, 'the caller is told that it was signed and is kept');
  await eventually('the cloud decided', () => tried.length === 3);
  await eventually(
    'the outbox is empty',
    async () => (await cast.edge.ask('GET', '/v1/edge/outbox')).data?.['outboxDepth'] === 0,
  );
  t.is(new Set(tried).size, 1);
  t.is((await cast.broadcast(ID)).error?.code, 'CHAIN_REJECTED');
  t.is(new Set(tried).size, 1);
});

for (const code of ['ACCOUNT_SUSPENDED', 'CHAIN_UNAVAILABLE'] as const) {
  test(`found: signed bytes that the cloud does not take for now (${code}) are named, hold no report, and leave when it takes them`, async (t) => {
    const cast = await stage(t);
    await cast.build(NATIVE, builtFor(NATIVE, transactionFor(NATIVE), ID));
    let isHeld = true;
    cast.cloud.on('POST /v1/edge/transactions/{id}/signed', () => (isHeld ? { code } : { code: 'CHAIN_REJECTED' }));
    t.like((await cast.broadcast(ID)).error, { code, details: { signed: true } });
    const delivery = {
      deliveryId: 'dlv_1',
      attempt: 1,
      url: 'http://127.0.0.1:1/',
      headers: { 'webhook-id': 'evt_1' },
      body: '{"n":1}',
      timeoutMs: 15_000,
    };
    t.true((await cast.cloud.deliver([delivery])).ok);
    const outbox = async () => (await cast.edge.ask('GET', '/v1/edge/outbox')).data;
    await eventually('the report left', () => cast.cloud.attempts.length === 1);
    await eventually('it is named', async () => (await outbox())?.['outboxPoisoned'] === true);
    t.like(await outbox(), { outboxDepth: 1, poisonedBy: { kind: 'signed', code } });
    t.like(
      cast.edge.logged.find(({ msg }) => msg === 'outbox_poisoned'),
      { code },
    );
    isHeld = false;
    await eventually('it left', async () => (await outbox())?.['outboxDepth'] === 0);
    t.like(
      cast.edge.logged.find(({ msg }) => msg === 'submission_refused'),
      { code: 'CHAIN_REJECTED', transactionId: ID },
    );
  });
}

test('a token that the registry of this edge does not have is not signed, whatever the cloud says of it', async (t) => {
  const cast = await stage(t);
  const wanted: Wanted = { ...NATIVE, tokenContract: THIEF };
  const reply = await cast.build(wanted, builtFor(wanted, transactionFor(wanted), ID));
  t.is(reply.error?.code, 'TOKEN_NOT_SUPPORTED');
  await noSignature(t, cast, ID);
});

test('reliability 3.9-1: an address that is not derived at its path does not reach the caller', async (t) => {
  const { cloud, edge } = await stage(t);
  const address = (more: object = {}) => ({
    id: 'adr_22222222222222222222222222',
    chain: 'eth',
    address: FIRST,
    derivationPath: FIRST_PATH,
    environment: 'live',
    userRef: 'u',
    tag: null,
    label: null,
    status: 'active',
    createdAt: AT,
    ...more,
  });
  const create = async (told: object, chain = 'eth') => {
    cloud.on('POST /v1/addresses', () => ({ data: told, status: 201 }));
    return edge.ask('POST', '/v1/addresses', { chain, userRef: 'u' });
  };
  t.is((await create(address())).status, 201);
  for (const [lie, told] of [
    ['another address', address({ address: THIEF })],
    ['lower case', address({ address: FIRST.toLowerCase() })],
    ['another path', address({ derivationPath: "m/44'/60'/0'/0/1" })],
    ['no path', address({ derivationPath: undefined })],
    ['null path', address({ derivationPath: null })],
    ['a foreign account', address({ derivationPath: "m/44'/60'/9'/0/0" })],
    ['another chain', address({ chain: 'bsc' })],
    ['an unknown chain', address({ chain: 'doge' })],
    ['an index with zeros', address({ derivationPath: "m/44'/60'/0'/0/00" })],
  ] as const) {
    const reply = await create(told);
    t.is(reply.status, 500, lie);
    t.false(reply.text.includes(THIEF), lie);
  }
  const page = (...content: object[]) => ({ content, page: 0, size: 20, totalElements: content.length, totalPages: 1 });
  for (const [path, good, bad] of [
    ['/v1/addresses', page(address()), page(address(), address({ address: THIEF }))],
    ['/v1/addresses/adr_22222222222222222222222222', address(), address({ address: THIEF })],
  ] as const) {
    cloud.on(`GET ${path}`, () => ({ data: good }));
    t.is((await edge.ask('GET', path)).status, 200, path);
    cloud.on(`GET ${path}`, () => ({ data: bad }));
    t.is((await edge.ask('GET', path)).status, 500, path);
  }
  t.true(edge.logged.filter(({ msg, alarm }) => msg === 'answer_false' && alarm === true).length >= 11);
  // found F5: gas tanks are the edge's own derivation, whatever the cloud says.
  cloud.on('GET /v1/edge/gas-tanks', () => ({ data: page({ chain: 'eth', address: THIEF }) }));
  const tanks = await edge.ask('GET', '/v1/edge/gas-tanks');
  t.deepEqual(
    (tanks.data as { content: object[] }).content,
    ['eth', 'bsc', 'polygon', 'avax', 'base'].map((chain) => ({
      chain,
      address: '0x399Db6Ed32539fbDF44c3e7678b5b428e378F666',
      derivationPath: "m/44'/60'/0'/1/0",
    })),
  );
});

test('reliability 3.9-1: an answer that could be read as another one than was checked does not reach the caller', async (t) => {
  const { cloud, edge } = await stage(t);
  const meta = { requestId: 'req_22222222222222222222222222', timestamp: '2026-01-01T00:00:00.000Z' };
  const own = {
    id: 'adr_22222222222222222222222222',
    chain: 'eth',
    address: FIRST,
    derivationPath: FIRST_PATH,
    environment: 'live',
    userRef: 'u',
    tag: null,
    label: null,
    status: 'active',
    createdAt: AT,
  };
  const good = JSON.stringify({ success: true, data: own, meta }),
    bad = good.replace(FIRST, THIEF);
  const told = async (raw: string, status = 201) => {
    cloud.on('POST /v1/addresses', () => ({ raw, status }));
    cloud.on('GET /v1/addresses/{id}', () => ({ raw, status: status === 201 ? 200 : status }));
    return [
      await edge.ask('POST', '/v1/addresses', { chain: 'eth', userRef: 'u' }),
      await edge.ask('GET', '/v1/addresses/adr_22222222222222222222222222'),
    ];
  };
  t.deepEqual(
    (await told(good)).map(({ text }) => text),
    [good, good],
  );
  for (const [lie, raw, status] of [
    ['a byte order mark', `\ufeff${bad}`, 201],
    ['a truth that is only like one', bad.replace('true', '1'), 201],
    ['no success', bad.replace('"success":true,', ''), 201],
    ['a name twice', good.replace('"address"', `"address":"${THIEF}","address"`), 201],
    ['data twice', good.replace('"data"', `"data":${JSON.stringify({ ...own, address: THIEF })},"data"`), 201],
    ['a name in other letters', good.replace('"address"', `"Address":"${THIEF}","address"`), 201],
    ['a name with a letter that some fold', good.replace('"address"', `"addre\u017fs":"${THIEF}","address"`), 201],
    ['more after the end', `${bad}\n`, 201],
    ['no JSON', bad.replace('"meta"', '"x":NaN,"meta"'), 201],
    [
      'deeper than can be written',
      good.replace('"meta"', `"deep":${'['.repeat(100_000)}${']'.repeat(100_000)},"meta"`),
      201,
    ],
    ['a success with the status of none', bad, 302],
    ['a failure with data', bad.replace('true', 'false'), 400],
  ] as const) {
    for (const reply of await told(raw, status)) {
      t.is(reply.status >= 500, true, lie);
      t.false(reply.text.includes(THIEF), lie);
    }
  }
  const long = JSON.stringify({
    success: true,
    data: { ...own, chain: 'sol', derivationPath: '1 '.repeat(10_000) },
    meta,
  });
  t.deepEqual(
    (await told(long)).map(({ error }) => error?.details['field']),
    ['chain', 'derivationPath'],
  );
});

test('1.6-1 a build with more digits or bytes than one has is refused before anything of it is read', async (t) => {
  const cast = await stage(t, { EDGE_CHAINS: 'eth,xrp' });
  const told = builtFor(NATIVE, transactionFor(NATIVE), ID);
  for (const [what, unsigned] of [
    ['digits of the fee', { feeMax: '9'.repeat(2_000_000) }],
    ['digits of the amount', { amount: '9'.repeat(2_000_000) }],
    ['bytes', { payload: `0x02${'c0'.repeat(1_000_000)}` }],
  ] as const) {
    const reply = await cast.build(NATIVE, { ...told, unsigned: { ...told.unsigned, ...unsigned } });
    t.is(reply.error?.details['reason'], 'malformed_build', what);
  }
  await noSignature(t, cast, ID);
});
