/** Building, submitting and burying payments over stand-in servers that take, refuse, lose and forget them. */
import test from 'ava';
import {
  ChainUnavailable,
  type BroadcastResult,
  type Intent,
  type Signed,
  type Token,
  type Unsigned,
} from '../../chains/chain.ts';
import { xrp as module } from '../../chains/xrp/index.ts';
import type { XrpInputs } from '../../chains/xrp/inputs.ts';
import { xrp } from '../../chains/xrp/network.ts';
import { encodeSigned, signingHash } from '../../chains/xrp/signed.ts';
import { txidOf } from '../../chains/xrp/hashes.ts';
import { decodeUnsigned, encodeUnsigned, type XrpPayment } from '../../chains/xrp/transaction.ts';
import { xrpSigner } from '../../edge/signing/signers/xrp.ts';
import type { LedgerNetwork } from '../../developer/stand-ins/xrp/ledger-network.ts';
import { act, fund, makeIssuer, must as mustAct, payToken, trust } from '../../developer/stand-ins/xrp/people.ts';
import { walletOf } from '../../developer/stand-ins/xrp/signers.ts';
import type { Json } from '../../developer/stand-ins/xrp/transactions.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import { funded, intentOf, must, ours, startNode, tokenOf, walletAt, type Node } from '../support/xrp-node.ts';
import secp256k1 from 'secp256k1';

const US = ours(0, 0),
  SHOP = walletOf('shop'),
  issuer = walletOf('issuer');
const usd = { currency: 'USD', issuer: issuer.classicAddress },
  USD: Token = tokenOf(issuer.classicAddress);
const ONE = 10n ** 15n;

const pay = (more: Partial<Intent> = {}): Intent => intentOf({ to: SHOP.classicAddress, ...more });

async function built(node: Node, more: Partial<Intent> = {}, sequence?: number): Promise<Unsigned | Refusal> {
  const intent = pay(more),
    inputs = await node.client.fetchBuildInputs(intent);
  return module.buildUnsigned(
    xrp,
    inputs,
    intent,
    sequence === undefined ? null : { kind: 'sequence', value: String(sequence) },
  );
}
const signed = (unsigned: Unsigned): Signed => xrpSigner.sign(xrp, unsigned, US.key);
async function ready(node: Node, more: Partial<Intent> = {}, sequence?: number) {
  const unsigned = must(await built(node, more, sequence));
  return { unsigned, signed: signed(unsigned) };
}

/** Signs a transaction that no builder of ours would make, to see what a server says. */
function signedAs(unsigned: Unsigned, change: Partial<XrpPayment>): Signed {
  const decoded = decodeUnsigned(unsigned.payload) as { ok: true; transaction: XrpPayment };
  const transaction = { ...decoded.transaction, ...change } as XrpPayment,
    publicKey = secp256k1.publicKeyCreate(US.key.privateKey, true);
  const { signature } = secp256k1.ecdsaSign(signingHash(transaction, publicKey), US.key.privateKey);
  const payload = encodeSigned(transaction, publicKey, secp256k1.signatureExport(signature));
  return { chain: 'xrp', payload, txid: txidOf(payload) };
}
const closes = (network: LedgerNetwork, count: number) => {
  for (let i = 0; i < count; i += 1) network.close();
};
const refusal = (result: BroadcastResult) =>
  result.kind === 'rejected_final' ? [result.refusal.code, result.refusal.details['reason']] : [result.kind];

/** Us and a shop with money; with `tokens` an issuer, lines and 100 USD for us. */
async function town(
  t: Parameters<typeof startNode>[0],
  options: Parameters<typeof startNode>[1] & { tokens?: boolean; transferRate?: number } = {},
): Promise<Node> {
  const { tokens = false, transferRate, ...more } = options;
  const node = await startNode(t, more),
    { network } = node;
  funded(network, 100_000_000n);
  fund(network, SHOP.classicAddress, 20_000_000n);
  network.close();
  if (!tokens) return node;
  makeIssuer(network, issuer, transferRate === undefined ? {} : { transferRate });
  network.close();
  trust(network, walletAt(0, 0), usd);
  trust(network, SHOP, usd);
  network.close();
  payToken(network, issuer, US.address, { ...usd, value: '100' });
  network.close();
  return node;
}

test('R17 R21 R23 what a build is told: fees, reserves, the sender as the open ledger has it, the destination and its wishes', async (t) => {
  const node = await town(t),
    { network, client } = node;
  const sequence = network.tip.height - 1; // R23: the index of the ledger that made the account
  const inputs = await client.fetchBuildInputs(pay());
  t.like(inputs, {
    readAtHeight: network.tip.height,
    baseFeeDrops: '10',
    openLedgerFeeDrops: '10',
    reserveBaseDrops: '1000000',
    reserveIncrementDrops: '200000',
    sender: { balanceDrops: '100000000', sequence, ownerCount: 0, tickets: [] },
    destination: { balanceDrops: '20000000', requiresTag: false, refusesXrp: false, takesDeposits: true },
    token: null,
  });
  mustAct(network, walletAt(0, 0), { TransactionType: 'Payment', Destination: SHOP.classicAddress, Amount: '5' });
  t.like(
    (await client.fetchBuildInputs(pay())).sender!,
    { sequence: sequence + 1, balanceDrops: '99999985' },
    'what waits in the open ledger counts',
  );
  mustAct(network, walletAt(0, 0), { TransactionType: 'TicketCreate', TicketCount: 2 });
  for (const flag of [1, 3, 9]) mustAct(network, SHOP, { TransactionType: 'AccountSet', SetFlag: flag });
  network.close();
  t.like(await client.fetchBuildInputs(pay()), {
    sender: { tickets: [sequence + 2, sequence + 3], ownerCount: 2 },
    destination: { requiresTag: true, refusesXrp: true, takesDeposits: false },
  });
  mustAct(network, SHOP, { TransactionType: 'DepositPreauth', Authorize: US.address });
  network.close();
  t.true((await client.fetchBuildInputs(pay())).destination!.takesDeposits);
  t.is((await client.fetchBuildInputs(pay({ to: walletOf('nobody').classicAddress }))).destination, null);
  t.is((await client.fetchBuildInputs({ ...pay(), from: walletOf('nobody').classicAddress })).sender, null);
});

test('R27 R28 what a build of a token is told: the issuer and both lines, whoever of them is there', async (t) => {
  const node = await town(t, { tokens: true, transferRate: 1_002_000_000 }),
    { network, client } = node;
  const inputs = await client.fetchBuildInputs(pay({ token: USD }));
  t.like(inputs.token!, {
    issuer: { transferRate: '1002000000', requiresAuthorization: false, globallyFrozen: false },
    senderLine: { balance: (100n * ONE).toString(), frozen: false, noRippleAtIssuer: false },
    destinationLine: { balance: '0', limit: (10n ** 24n).toString() },
  });
  mustAct(network, issuer, {
    TransactionType: 'TrustSet',
    Flags: 0x0010_0000,
    LimitAmount: { ...usd, issuer: US.address, value: '0' },
  });
  mustAct(network, issuer, { TransactionType: 'AccountSet', SetFlag: 7 });
  network.close();
  t.like((await client.fetchBuildInputs(pay({ token: USD }))).token!, {
    issuer: { globallyFrozen: true },
    senderLine: { frozen: true },
  });
  t.like((await client.fetchBuildInputs(pay({ token: tokenOf(walletOf('nobody').classicAddress) }))).token!, {
    issuer: null,
    senderLine: null,
    destinationLine: null,
  });
});

test('R17 R20 R24 G25 a payment and a sweep land, cost what they said and leave the reserve', async (t) => {
  const node = await town(t),
    { network, client } = node;
  const { unsigned, signed: bytes } = await ready(node, { tag: '77' });
  t.deepEqual(await client.broadcast(bytes), { kind: 'accepted', txid: bytes.txid });
  t.deepEqual(await client.getFate(unsigned, bytes.txid), { kind: 'pending' });
  const { height, hash } = network.close();
  t.deepEqual(await client.getFate(unsigned, bytes.txid), {
    kind: 'included',
    height,
    hash,
    outcome: { txid: bytes.txid, success: true, reason: null, fee: 12n },
  });
  const [transfer] = module.transfersIn(xrp, await client.getBlock(height), new Map()).transfers;
  t.like(transfer!, { to: SHOP.classicAddress, amount: 2_000_000n, tag: '77', from: [US.address] });
  const sweep = await ready(node, { amount: 'all' });
  t.is((await client.broadcast(sweep.signed)).kind, 'accepted');
  network.close();
  t.like(await client.fetchBalance(US.address, null), { amount: 1_000_000n, available: 0n, accountExists: true });
});

test('R10 R11 R26 R28 a token lands with its transfer fee paid by the sender; a send-all leaves nothing that could be sent', async (t) => {
  const node = await town(t, { tokens: true, transferRate: 1_002_000_000 }),
    { network, client } = node;
  const { unsigned, signed: bytes } = await ready(node, { token: USD, amount: 10n * ONE });
  t.is(unsigned.fee['sendMax'], '10.02');
  t.is((await client.broadcast(bytes)).kind, 'accepted');
  const { height } = network.close();
  t.is((await client.fetchBalance(SHOP.classicAddress, USD)).amount, 10n * ONE);
  t.is((await client.fetchBalance(US.address, USD)).amount, 89_980_000_000_000_000n);
  const seen = module.outcomesIn(xrp, await client.getBlock(height), new Set([bytes.txid]));
  t.is(seen[0]!.taken, 10_020_000_000_000_000n, 'what left, not what arrived');
  t.is((await client.getOutcome(bytes.txid))?.taken, seen[0]!.taken);
  const all = await ready(node, { token: USD, amount: 'all' });
  t.is((await client.broadcast(all.signed)).kind, 'accepted');
  network.close();
  const outcome = await client.getOutcome(all.signed.txid);
  t.true(outcome?.success);
  t.true((await client.fetchBalance(US.address, USD)).amount < 1_000n, 'dust of the fifteenth digit');
  const left = (await client.fetchBalance(US.address, USD)).amount;
  t.is(outcome!.taken, 89_980_000_000_000_000n - left, 'to the last digit');
});

test('R12 R13 R27 §4.2 a trust line is opened, refused a second time, and the token can be received', async (t) => {
  const node = await startNode(t),
    { network, client } = node;
  funded(network, 1_000_020n);
  makeIssuer(network, issuer);
  network.close();
  const line = { kind: 'trustline' as const, token: USD, to: US.address, amount: 0n };
  const unsigned = must(await built(node, line));
  t.is((await client.broadcast(signed(unsigned))).kind, 'accepted', 'the first two lines need no reserve');
  const { height } = network.close();
  t.deepEqual(module.transfersIn(xrp, await client.getBlock(height), new Map()).transfers, []);
  t.like(await client.fetchBalance(US.address, USD), { amount: 0n, accountExists: true });
  t.like(await built(node, line), { code: 'CONFLICT' });
  payToken(network, issuer, US.address, { ...usd, value: '3' });
  network.close();
  t.is((await client.fetchBalance(US.address, USD)).amount, 3n * ONE);
  t.true((await client.fetchBuildInputs(pay({ token: USD }))).token!.senderLine!.noRippleAtIssuer === false);
});

/** Refusals that a ledger gives to bytes which no careful builder makes. */
const REFUSED: readonly (readonly [name: string, set: (node: Node) => Promise<Signed> | Signed, code: string])[] = [
  [
    'tecUNFUNDED_PAYMENT: amount above the balance',
    async (node) => signedAs(must(await built(node)), { amount: 100_000_000n }),
    'INSUFFICIENT_FUNDS',
  ],
  [
    'tecUNFUNDED_PAYMENT: amount out of the reserve',
    async (node) => signedAs(must(await built(node)), { amount: 99_500_000n }),
    'INSUFFICIENT_RESERVE',
  ],
  [
    'tecNO_DST_INSUF_XRP',
    async (node) => signedAs(must(await built(node)), { destination: walletOf('nobody').classicAddress, amount: 5n }),
    'INSUFFICIENT_RESERVE',
  ],
  [
    'tecNO_DST',
    async (node) =>
      signedAs(must(await built(node, { token: USD, amount: ONE })), {
        destination: walletOf('nobody').classicAddress,
      }),
    'INSUFFICIENT_RESERVE',
  ],
  [
    'tecPATH_DRY',
    async (node) => {
      fund(node.network, walletOf('new').classicAddress, 5_000_000n);
      node.network.close();
      return signedAs(must(await built(node, { token: USD, amount: ONE })), {
        destination: walletOf('new').classicAddress,
      });
    },
    'DESTINATION_OPT_IN_REQUIRED',
  ],
  [
    'tecPATH_PARTIAL',
    async (node) => signedAs(must(await built(node, { token: USD, amount: ONE })), { amount: 101n * ONE }),
    'INSUFFICIENT_FUNDS',
  ],
  [
    'tecDST_TAG_NEEDED',
    async (node) => {
      const unsigned = must(await built(node));
      mustAct(node.network, SHOP, { TransactionType: 'AccountSet', SetFlag: 1 });
      return signed(unsigned);
    },
    'CHAIN_REJECTED',
  ],
  [
    'tecNO_PERMISSION',
    async (node) => {
      const unsigned = must(await built(node));
      mustAct(node.network, SHOP, { TransactionType: 'AccountSet', SetFlag: 9 });
      return signed(unsigned);
    },
    'CHAIN_REJECTED',
  ],
  ['telINSUF_FEE_P', async (node) => signedAs(must(await built(node)), { feeDrops: 9n }), 'CHAIN_REJECTED'],
  ['terINSUF_FEE_B', async (node) => signedAs(must(await built(node)), { feeDrops: 100_000_001n }), 'INSUFFICIENT_GAS'],
  ['temREDUNDANT', async (node) => signedAs(must(await built(node)), { destination: US.address }), 'CHAIN_REJECTED'],
];

for (const [name, set, code] of REFUSED) {
  test(`8.2 part 3 a server refuses, and nothing is burnt: ${name} is ${code}`, async (t) => {
    const node = await town(t, { tokens: true }),
      { network, client } = node;
    const bytes = await set(node),
      before = (await client.fetchBuildInputs(pay())).sender!;
    t.deepEqual(refusal(await client.broadcast(bytes)), [code, name.split(':')[0]]);
    t.deepEqual((await client.fetchBuildInputs(pay())).sender, before, 'R22: with fail_hard not even the fee');
    t.is(network.findWaiting(bytes.txid), null);
  });
}

/** Words that a stand-in does not come to by itself are put into its mouth. */
for (const [result, code] of [
  ['tecNO_AUTH', 'CHAIN_REJECTED'],
  ['tecFROZEN', 'CHAIN_REJECTED'],
  ['temBAD_SIGNATURE', 'CHAIN_REJECTED'],
  ['telWRONG_NETWORK', 'CHAIN_REJECTED'],
  ['tecINSUFF_FEE', 'INSUFFICIENT_GAS'],
  ['telCAN_NOT_QUEUE_FULL', 'CHAIN_REJECTED'],
  ['tecTOO_SOON', 'CHAIN_REJECTED'],
  ['tecHAS_OBLIGATIONS', 'CHAIN_REJECTED'],
  ['tefBAD_AUTH', 'CHAIN_REJECTED'],
] as const) {
  test(`8.2 part 3 a server that answers ${result} refuses for good: ${code}`, async (t) => {
    const node = await town(t),
      { signed: bytes } = await ready(node);
    node.servers[0]!.faults.instead.set('submit', [
      { engine_result: result, applied: false, broadcast: false, kept: false, queued: false },
    ]);
    t.deepEqual(refusal(await node.client.broadcast(bytes)), [code, result]);
  });
}

test("G26 C6-56 tefALREADY and tefPAST_SEQ are looked up: our own bytes are known, another transaction's sequence is not ours", async (t) => {
  const node = await town(t),
    { network, client } = node;
  const first = await ready(node),
    other = await ready(node, { amount: 3_000_000n });
  t.is((await client.broadcast(first.signed)).kind, 'accepted');
  t.deepEqual(await client.broadcast(first.signed), { kind: 'already_known', txid: first.signed.txid });
  t.like(await client.broadcast(other.signed), { kind: 'unknown', reason: 'xrp-1: the sequence is used' });
  network.close();
  t.deepEqual(await client.broadcast(first.signed), { kind: 'already_known', txid: first.signed.txid });
  t.is((await client.broadcast(other.signed)).kind, 'unknown');
});

test('R21 G26 a sequence that has to wait for an earlier one is unknown, and lands when the gap is filled', async (t) => {
  const node = await town(t),
    { network, client } = node,
    next = module.nextReplayValue((await client.fetchBuildInputs(pay())) as XrpInputs) as number;
  const later = await ready(node, {}, next + 1),
    earlier = await ready(node, {}, next);
  t.like(await client.broadcast(later.signed), { kind: 'unknown', reason: 'xrp-1: terPRE_SEQ' });
  t.is((await client.broadcast(earlier.signed)).kind, 'accepted');
  t.is((await client.broadcast(later.signed)).kind, 'accepted');
  t.is(network.close().transactions.length, 2);
});

test('R17 R21 a payment by ticket lands out of turn, once', async (t) => {
  const node = await town(t),
    { network, client } = node;
  mustAct(network, walletAt(0, 0), { TransactionType: 'TicketCreate', TicketCount: 2 });
  network.close();
  const [, ticket] = (await client.fetchBuildInputs(pay())).sender!.tickets;
  const { unsigned, signed: bytes } = await ready(node, {}, ticket);
  t.is(unsigned.fee['ticketSequence'], ticket);
  t.is((await client.broadcast(bytes)).kind, 'accepted');
  network.close();
  t.like(await client.getFate(unsigned, bytes.txid), { kind: 'included' });
  t.like(await built(node, {}, ticket), { code: 'CONFLICT' });
});

test('R20 8.2 terQUEUED is accepted and may wait; a dearer version under the same sequence takes its place, and one of both lands', async (t) => {
  const node = await town(t, { targetSize: 1 }),
    { network, client } = node;
  const { unsigned, signed: cheap } = await ready(node);
  fund(network, SHOP.classicAddress, 1_000_000n);
  t.deepEqual(await client.broadcast(cheap), { kind: 'accepted', txid: cheap.txid });
  t.is(network.queue.size, 1);
  t.deepEqual(await client.getFate(unsigned, cheap.txid), { kind: 'pending' });
  const repriced = must(module.reprice(xrp, unsigned, (await client.fetchBuildInputs(pay())) as XrpInputs)),
    dear = signed(repriced);
  t.is(repriced.feeMax, 5_000n, 'the open ledger asks for more than the cap: it waits');
  t.is((await client.broadcast(dear)).kind, 'accepted');
  closes(network, 2);
  t.like(await client.getFate(repriced, dear.txid), { kind: 'included' });
  t.is((await client.getFate(unsigned, cheap.txid)).kind, 'unknown', 'until its time is over');
  closes(network, 25);
  const fate = await client.getFate(unsigned, cheap.txid);
  t.is(fate.kind, 'dead');
  t.regex(fate.kind === 'dead' ? fate.proof : '', new RegExp(`${dear.txid} used its sequence`));
});

test('R19 R29 G27 XRPLF/xrpl.js#1047 tefMAX_LEDGER is no proof; the validated ledger past the last one is, if nothing is missing', async (t) => {
  const node = await town(t),
    {
      network,
      client,
      servers: [one],
    } = node;
  const { unsigned, signed: bytes } = await ready(node),
    last = Number(unsigned.fee['lastLedgerSequence']);
  t.is(last, network.tip.height + 20);
  t.like(await client.getFate(unsigned, bytes.txid), {
    kind: 'unknown',
    reason: `the server does not know it; it may land until ledger ${last}`,
  });
  closes(network, 20);
  t.is(network.tip.height, last);
  t.like(await client.broadcast(bytes), { kind: 'unknown', reason: 'xrp-1: tefMAX_LEDGER' });
  t.like(
    await client.getFate(unsigned, bytes.txid),
    { kind: 'unknown' },
    'the last ledger it could land in is just validated, the next is not',
  );
  network.close();
  one!.faults.missing = [{ first: last - 7, last: last - 7 }];
  t.like(await client.getFate(unsigned, bytes.txid), {
    kind: 'unknown',
    reason: `the server does not have every ledger of ${last - 20} to ${last + 1}`,
  });
  one!.faults.missing = [];
  const fate = await client.getFate(unsigned, bytes.txid);
  t.is(fate.kind, 'dead');
  t.regex(fate.kind === 'dead' ? fate.proof : '', new RegExp(`in none of the ledgers ${last - 20} to ${last}`));
});

test('R29 G27 a server that has not searched, does not list, or that another one contradicts proves nothing', async (t) => {
  const node = await town(t, { servers: 2 }),
    {
      network,
      client,
      servers: [one, two],
    } = node;
  const { unsigned, signed: bytes } = await ready(node);
  closes(network, 21);
  two!.faults.busy = 'noNetwork';
  for (const [rewrite, reason] of [
    [
      (method: string, _p: Json, result: Json) =>
        method === 'account_tx' ? { ...result, ledger_index_min: Number(result['ledger_index_min']) + 1 } : undefined,
      /does not list every ledger/,
    ],
    [
      (method: string, _p: Json, result: Json) =>
        method === 'account_tx' ? { ...result, ledger_index_max: Number(result['ledger_index_max']) - 1 } : undefined,
      /does not list every ledger/,
    ],
  ] as const) {
    one!.faults.rewrite = rewrite;
    const fate = await client.getFate(unsigned, bytes.txid);
    t.is(fate.kind, 'unknown');
    t.regex(fate.kind === 'unknown' ? fate.reason : '', reason);
  }
  one!.faults.rewrite = (method, _params, result) =>
    method === 'account_tx'
      ? {
          ...result,
          transactions: [{ hash: bytes.txid, tx_json: { Account: US.address, Sequence: 1 }, validated: true }],
        }
      : undefined;
  await t.throwsAsync(() => client.getFate(unsigned, bytes.txid), {
    instanceOf: ChainUnavailable,
    message: /does not find it/,
  });
  one!.faults.rewrite = null;
  t.is((await client.getFate(unsigned, bytes.txid)).kind, 'dead', 'a second server that is down disproves nothing');
});

test('R29 a transaction that landed where one server has a gap is found through the other; their disagreement is no death', async (t) => {
  const node = await town(t, { servers: 2 }),
    {
      network,
      client,
      servers: [one, two],
    } = node;
  const { unsigned, signed: bytes } = await ready(node);
  await client.broadcast(bytes);
  const { height } = network.close();
  closes(network, 25);
  // The first server forgot the transaction and does not say so: only the second one knows better.
  one!.faults.rewrite = (method, _params, result) =>
    method === 'account_tx' ? { ...result, transactions: [] } : undefined;
  const forget = () =>
    one!.faults.instead.set('tx', [
      { error: 'txnNotFound', searched_all: true, status: 'error' },
      { error: 'txnNotFound', searched_all: true, status: 'error' },
    ]);
  for (let i = 0; i < 2; i += 1) {
    forget();
    t.like(await client.getFate(unsigned, bytes.txid), { kind: 'included', height });
  }
  await two!.die();
  one!.faults.rewrite = null;
  one!.faults.instead.clear();
  t.like(await client.getFate(unsigned, bytes.txid), { kind: 'included', height });
});

test('R29 what a server still keeps in its memory after its time is judged by the ledgers', async (t) => {
  const node = await town(t),
    {
      network,
      client,
      servers: [one],
    } = node;
  const { unsigned, signed: bytes } = await ready(node);
  closes(network, 21);
  one!.faults.instead.set('tx', [{ hash: bytes.txid, tx_json: {}, validated: false }]);
  t.is((await client.getFate(unsigned, bytes.txid)).kind, 'dead');
});

test('G27 R20 the older version of a repriced payment is judged from its own beginning', async (t) => {
  const node = await town(t),
    {
      network,
      client,
      servers: [one],
    } = node;
  const { unsigned, signed: bytes } = await ready(node);
  closes(network, 15);
  const repriced = must(module.reprice(xrp, unsigned, (await client.fetchBuildInputs(pay())) as XrpInputs));
  closes(network, 6);
  // Read with the inputs of the newer one, as the record of a repriced payment keeps them.
  const asKept = { ...unsigned, readAtHeight: repriced.readAtHeight };
  const start = Number(unsigned.fee['lastLedgerSequence']) - 20;
  one!.faults.missing = [{ first: start, last: start }];
  t.like(await client.getFate(asKept, bytes.txid), { kind: 'unknown' });
  one!.faults.missing = [];
  t.is((await client.getFate(asKept, bytes.txid)).kind, 'dead');
  t.is((await client.getFate(repriced, signed(repriced).txid)).kind, 'unknown', 'the newer one has time left');
});

test('G25 G26 a server that dies with the answer on its way leaves the outcome unknown; the same bytes go again and land once', async (t) => {
  const node = await town(t, { servers: 2 }),
    {
      network,
      client,
      servers: [one, two],
    } = node;
  const { unsigned, signed: bytes } = await ready(node);
  for (const server of [one, two])
    server!.faults.rewrite = (method) => (method === 'submit' ? { status: 'lost' } : undefined);
  await t.throwsAsync(
    () => client.broadcast(bytes),
    { message: /engine_result/ },
    'an answer that is none is a fault, not a no',
  );
  for (const server of [one, two]) server!.faults.rewrite = null;
  t.deepEqual(await client.broadcast(bytes), { kind: 'already_known', txid: bytes.txid });
  for (const server of [one, two]) server!.faults.busy = { http: 503 };
  t.is((await client.broadcast(bytes)).kind, 'unknown');
  for (const server of [one, two]) server!.faults.busy = null;
  t.is(network.close().transactions.filter(({ txid }) => txid === bytes.txid).length, 1);
  t.like(await client.getFate(unsigned, bytes.txid), { kind: 'included' });
});

test('G26 a refusal of one server is final only if no other took or knows the bytes, and none was behind', async (t) => {
  const node = await town(t, { servers: 2 }),
    {
      client,
      servers: [one, two],
      network,
    } = node;
  const { signed: bytes } = await ready(node);
  one!.faults.instead.set('submit', [{ engine_result: 'tecNO_PERMISSION' }]);
  t.is((await client.broadcast(bytes)).kind, 'accepted', 'the other one takes it');
  const second = await ready(node, { amount: 3_000_000n });
  one!.faults.instead.set('submit', [{ engine_result: 'tecNO_PERMISSION' }]);
  two!.faults.busy = 'tooBusy';
  t.like(await client.broadcast(second.signed), { kind: 'unknown' });
  two!.faults.busy = null;
  network.close();
  await client.getHead();
  closes(network, 5);
  two!.faults.lag = 5;
  await client.getHead();
  for (const server of [one, two]) server!.faults.instead.set('submit', [{ engine_result: 'tecNO_PERMISSION' }]);
  const judged = await client.broadcast(second.signed);
  t.is(judged.kind, 'unknown');
  t.regex(judged.kind === 'unknown' ? judged.reason : '', /behind/);
});

test('G28 a server that names another hash is a fault; a txid that is not that of the bytes is ours', async (t) => {
  const node = await town(t),
    {
      client,
      servers: [one],
    } = node;
  const { signed: bytes } = await ready(node);
  one!.faults.rewrite = (method, _params, result) =>
    method === 'submit' ? { ...result, tx_json: { hash: 'AB'.repeat(32) } } : undefined;
  await t.throwsAsync(() => client.broadcast(bytes), { message: /another hash/ });
  await t.throwsAsync(() => client.broadcast({ ...bytes, txid: 'AB'.repeat(32) }), {
    message: /not the hash of the signed bytes/,
  });
});

test('R22 8.2 a tec that a server passed on in spite of fail_hard is not the end: the ledger says what became of it', async (t) => {
  const node = await town(t),
    {
      network,
      client,
      servers: [one],
    } = node;
  const unsigned = must(await built(node)),
    bytes = signedAs(unsigned, { amount: 99_500_000n });
  const before = encodeUnsigned(
    (decodeUnsigned(unsigned.payload) as { ok: true; transaction: XrpPayment }).transaction,
  );
  t.is(before, unsigned.payload);
  one!.faults.rewrite = (method, _params, result) => (method === 'submit' ? { ...result, broadcast: true } : undefined);
  t.is((await client.broadcast(bytes)).kind, 'accepted');
  network.submit(bytes.payload);
  network.close();
  t.like(await client.getOutcome(bytes.txid), { success: false, reason: 'tecUNFUNDED_PAYMENT', fee: 12n });
  t.is(act(network, SHOP, { TransactionType: 'AccountSet' }).result, 'tesSUCCESS');
});

test('C6-52 R21 the sequence of the ledger is told anew every time: one that was not used is free again', async (t) => {
  const node = await town(t),
    { network, client } = node;
  const next = async () => module.nextReplayValue((await client.fetchBuildInputs(pay())) as XrpInputs);
  const before = await next(),
    { unsigned, signed: bytes } = await ready(node);
  t.is((await client.broadcast(bytes)).kind, 'accepted');
  t.is(await next(), (before as number) + 1);
  network.close();
  t.is((await client.getFate(unsigned, bytes.txid)).kind, 'included');
  const late = must(await built(node));
  closes(network, 25);
  t.is(await next(), (before as number) + 1, 'what was never submitted used nothing');
  t.false(isRefusal(await built(node)));
  t.is((await client.getFate(late, signed(late).txid)).kind, 'dead');
});
