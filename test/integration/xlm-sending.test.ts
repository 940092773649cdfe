import test, { type ExecutionContext } from 'ava';
import { Asset, Networks, Operation } from '@stellar/stellar-sdk/base';
import type { BroadcastResult, Fate, Intent, Signed, Unsigned } from '../../chains/chain.ts';
import { decodePayload } from '../../chains/xlm/envelope.ts';
import { xlm } from '../../chains/xlm/index.ts';
import type { XlmInputs } from '../../chains/xlm/inputs.ts';
import { stellar } from '../../chains/xlm/network.ts';
import { xlmSigner } from '../../edge/signing/signers/xlm.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import { creation, envelopeOf, opening, payment, person, settle } from '../../developer/stand-ins/xlm/people.ts';
import { StellarServer } from '../../developer/stand-ins/xlm/stand-in.ts';
import { readTransaction } from '../../developer/stand-ins/xlm/transactions.ts';
import {
  endpointOf,
  intentOf,
  KINDS,
  must,
  openWorld,
  ours,
  readerOf,
  tank,
  XLM,
  type World,
} from '../support/xlm-node.ts';

const own = ours(0),
  shop = person(21).publicKey();

async function build({ client }: Pick<World, 'client'>, intent: Intent): Promise<Unsigned | Refusal> {
  return xlm.buildUnsigned(stellar, await client.fetchBuildInputs(intent), intent, null);
}

const signed = (unsigned: Unsigned, ...more: Parameters<typeof xlmSigner.sign>[2][]): Signed =>
  xlmSigner.sign(stellar, unsigned, own.key, ...more);

/** Builds, signs, submits and closes; what became of it. */
async function send(
  world: World,
  more: Partial<Intent> = {},
): Promise<{ unsigned: Unsigned; bytes: Signed; result: BroadcastResult; fate: Fate }> {
  const unsigned = must(await build(world, intentOf(own, more))),
    bytes = signed(unsigned);
  const result = await world.client.broadcast(bytes);
  world.ledger.close();
  return { unsigned, bytes, result, fate: await world.client.getFate(unsigned, bytes.txid) };
}

const codeOf = (value: object): [string, unknown] | null =>
  isRefusal(value) ? [value.code, value.details['reason']] : null;

for (const kind of KINDS) {
  test(`M19 M21 M25 ${kind}: payments, creations, tokens and send-alls land as they were built`, async (t) => {
    const world = openWorld([kind]),
      { ledger, token, payer } = world;
    world.pay(own.address, 100n * XLM);
    const created = await send(world, { amount: 5n * XLM });
    t.like(created.result, { kind: 'accepted' });
    t.like(created.fate, { kind: 'included', outcome: { success: true, fee: 100n } });
    t.is(ledger.state.account(shop)!.balance, 5n * XLM, 'an account that was not there is created');
    await send(world, { amount: 3n });
    t.is(ledger.state.account(shop)!.balance, 5n * XLM + 3n);

    const line = must(await build(world, intentOf(own, { kind: 'trustline', to: own.address, token, amount: 0n })));
    t.like(line, { kind: 'trustline', amount: 0n, to: own.address, tokenContract: token.contract });
    t.is((await world.client.broadcast(signed(line))).kind, 'accepted');
    ledger.close();
    t.is(ledger.state.line(own.address, token.contract)!.limit, 2n ** 63n - 1n, 'M26: the whole of the limit');
    t.deepEqual(codeOf(await build(world, intentOf(own, { kind: 'trustline', to: own.address, token, amount: 0n }))), [
      'CONFLICT',
      'the trust line exists',
    ]);

    settle(ledger, payer, [payment(own.address, 50n * XLM, token.contract)]);
    const seller = person(22);
    settle(ledger, payer, [creation(seller.publicKey(), 20n * XLM)]);
    settle(ledger, seller, [opening(token.contract)]);
    const paid = await send(world, { to: seller.publicKey(), token, amount: 20n * XLM });
    t.like(paid.fate, { kind: 'included', outcome: { success: true } });
    t.is((await world.client.fetchBalance(seller.publicKey(), token)).amount, 20n * XLM);
    await send(world, { to: seller.publicKey(), token, amount: 'all' });
    t.is((await world.client.fetchBalance(own.address, token)).amount, 0n);

    const all = await send(world, { amount: 'all' });
    t.like(all.fate, { kind: 'included', outcome: { success: true } });
    const left = await world.client.fetchBalance(own.address, null);
    t.deepEqual([left.available, left.amount], [0n, left.reserved], 'M23 M27: exactly the reserve stays');
  });

  test(`M13 M24 C8-65 C8-67 ${kind}: memo, muxed id, and whoever asks for a memo`, async (t) => {
    const world = openWorld([kind]),
      { ledger, payer } = world,
      exchange = person(23);
    world.pay(own.address, 100n * XLM);
    const operationOf = ({ payload }: Unsigned) => {
      const decoded = decodePayload(payload);
      return decoded.ok ? ([decoded.payload.transaction.operation, decoded.payload.transaction.memoId] as const) : null;
    };
    const missing = must(
      await build(world, intentOf(own, { to: exchange.publicKey(), tag: '420', tagOfAddress: true })),
    );
    t.like(operationOf(missing)![0], { kind: 'create_account', to: exchange.publicKey() });
    t.is(operationOf(missing)![1], '420', 'a creation names no id: it goes along as a memo');
    settle(ledger, payer, [creation(exchange.publicKey(), 20n * XLM)]);
    settle(ledger, exchange, [Operation.manageData({ name: 'config.memo_required', value: '1' })]);
    t.deepEqual(codeOf(await build(world, intentOf(own, { to: exchange.publicKey() }))), [
      'INVALID_INPUT',
      'memo_required',
    ]);
    const memo = await send(world, { to: exchange.publicKey(), tag: '7' });
    t.deepEqual(operationOf(memo.unsigned)![1], '7');
    const muxed = await send(world, { to: exchange.publicKey(), tag: '18446744073709551615', tagOfAddress: true });
    t.like(operationOf(muxed.unsigned)![0], { kind: 'payment', to: { id: '18446744073709551615' } });
    t.is(operationOf(muxed.unsigned)![1], null);
    for (const sent of [memo, muxed]) t.like(sent.fate, { kind: 'included', outcome: { success: true } });
    const block = await world.client.getBlock(ledger.newest.height);
    t.like(xlm.transfersIn(stellar, block, new Map()).transfers[0], {
      to: exchange.publicKey(),
      tag: '18446744073709551615',
    });
  });

  test(`G26 C6-56 ${kind}: a submission that timed out after it was applied is the same bytes again, and paid once`, async (t) => {
    const world = openWorld([kind]),
      [server] = world.servers;
    world.pay(own.address, 100n * XLM);
    const unsigned = must(await build(world, intentOf(own, { amount: 5n * XLM }))),
      bytes = signed(unsigned);
    server!.timesOutOnce = true;
    t.like(
      await world.client.broadcast(bytes),
      { kind: 'already_known', txid: bytes.txid },
      'the look-up finds what the time-out hid',
    );
    t.deepEqual(
      await world.client.broadcast(bytes),
      { kind: 'already_known', txid: bytes.txid },
      'tx_bad_seq of our own copy is no refusal',
    );
    t.is(world.ledger.state.account(shop)!.balance, 5n * XLM);
    t.like(await world.client.getFate(unsigned, bytes.txid), { kind: 'included' });
  });

  test(`G26 M22 ${kind}: waiting twice, waiting behind another one, a limit and silence are no refusals`, async (t) => {
    const world = openWorld([kind]),
      [server] = world.servers;
    world.pay(own.address, 100n * XLM);
    const first = signed(must(await build(world, intentOf(own)))),
      second = signed(must(await build(world, intentOf(own, { amount: 2n * XLM }))));
    t.like(await world.client.broadcast(first), { kind: 'accepted' });
    t.like(await world.client.broadcast(first), { kind: 'already_known' });
    t.like(await world.client.broadcast(second), { kind: 'unknown' }, 'TRY_AGAIN_LATER');
    world.ledger.dropQueue();
    server!.callsLeft = 0;
    t.like(await world.client.broadcast(first), { kind: 'unknown' });
    server!.callsLeft = null;
    server!.dead = true;
    t.like(await world.client.broadcast(first), { kind: 'unknown' });
    server!.dead = false;
    t.like(await world.client.broadcast(first), { kind: 'accepted' });
  });

  test(`9.2 X1 ${kind}: refusals of the ledger, each in the service's own words`, async (t) => {
    const world = openWorld([kind]),
      { ledger, payer } = world,
      poor = person(24);
    world.pay(own.address, 100n * XLM);
    settle(ledger, payer, [creation(poor.publicKey(), 20n * XLM)]);
    const refusedBy = async (base64: string): Promise<unknown> => {
      const { hash } = readTransaction(base64, ledger.passphrase);
      const result = await world.client.broadcast({ chain: 'xlm', payload: base64, txid: hash });
      return result.kind === 'rejected_final' ? [result.refusal.code, result.refusal.details['reason']] : result.kind;
    };
    const future = ledger.newest.closeTime + 100;
    const one = (operation: Parameters<typeof envelopeOf>[2][number], more: Parameters<typeof envelopeOf>[3] = {}) =>
      envelopeOf(ledger, poor, [operation], { maxTime: future, ...more });
    t.deepEqual(await refusedBy(one(payment(shop, 1n), { fee: 10 })), ['CHAIN_REJECTED', 'tx_insufficient_fee']);
    t.deepEqual(await refusedBy(one(payment(shop, 1n), { fee: 300_000_000 })), [
      'INSUFFICIENT_GAS',
      'tx_insufficient_balance',
    ]);
    t.deepEqual(await refusedBy(envelopeOf(ledger, person(25), [payment(shop, 1n)], { maxTime: future })), [
      'CHAIN_REJECTED',
      'tx_no_source_account',
    ]);
    t.deepEqual(await refusedBy(one(payment(shop, 1n), { beside: [payer] })), ['CHAIN_REJECTED', 'tx_bad_auth_extra']);
    t.is(
      await refusedBy(one(payment(shop, 1n), { sequence: 5n })),
      'unknown',
      'a sequence that was used proves nothing by itself',
    );
    t.is(await refusedBy(one(payment(shop, 1n), { maxTime: 1_000 })), 'unknown', 'nor does a time that is over');
  });

  test(`9.2 M25 ${kind}: what fails in its ledger has used its sequence, and says why`, async (t) => {
    const world = openWorld([kind]),
      { ledger, token, payer } = world,
      poor = person(24),
      rich = person(26);
    settle(ledger, payer, [
      creation(own.address, 20n * XLM),
      creation(poor.publicKey(), 20n * XLM),
      creation(rich.publicKey(), 20n * XLM),
    ]);
    settle(ledger, rich, [opening(token.contract)]);
    const cases: [string, Partial<Intent>, () => void][] = [
      [
        'op_no_destination',
        { to: rich.publicKey() },
        () => {
          ledger.state.remove(ledger.state.account(rich.publicKey())!);
        },
      ],
      [
        'op_underfunded',
        { to: poor.publicKey(), amount: 10n * XLM },
        () => {
          ledger.state.put({ ...ledger.state.account(own.address)!, balance: (105n * XLM) / 10n });
        },
      ],
      [
        'op_already_exists',
        { to: person(27).publicKey(), amount: 2n * XLM },
        () => {
          settle(ledger, payer, [creation(person(27).publicKey(), 2n * XLM)]);
        },
      ],
    ];
    for (const [reason, more, meanwhile] of cases) {
      const unsigned = must(await build(world, intentOf(own, more))),
        bytes = signed(unsigned);
      meanwhile();
      t.like(await world.client.broadcast(bytes), { kind: 'accepted' }, reason);
      ledger.close();
      const fate = await world.client.getFate(unsigned, bytes.txid);
      t.like(
        fate,
        { kind: 'included', outcome: { success: false, reason: `tx_failed: ${reason}`, fee: 100n } },
        reason,
      );
    }
  });

  test(`M30 G27 ${kind}: death by time: a ledger closed after the last one that may hold it, and none has it`, async (t) => {
    const world = openWorld([kind]);
    world.pay(own.address, 100n * XLM);
    const unsigned = must(await build(world, intentOf(own))),
      bytes = signed(unsigned);
    t.like(await world.client.getFate(unsigned, bytes.txid), { kind: 'unknown' });
    world.ledger.close(180);
    t.like(await world.client.getFate(unsigned, bytes.txid), { kind: 'unknown' }, 'the last second is its own');
    world.ledger.close(1);
    const fate = await world.client.getFate(unsigned, bytes.txid);
    t.is(fate.kind, 'dead');
    t.regex(fate.kind === 'dead' ? fate.proof : '', /closed at \d+, after \d+, and it is in none of ledgers/);
    const [server] = world.servers;
    server!.retention = 1;
    t.like(
      await world.client.getFate(unsigned, bytes.txid),
      { kind: 'unknown' },
      'history that is gone proves nothing',
    );
  });

  test(`M30 G27 ${kind}: death by sequence: another transaction has used it`, async (t) => {
    const world = openWorld([kind]);
    world.pay(own.address, 100n * XLM);
    const unsigned = must(await build(world, intentOf(own))),
      bytes = signed(unsigned);
    const other = signed(must(await build(world, intentOf(own, { amount: 7n * XLM }))));
    await world.client.broadcast(other);
    world.ledger.close();
    const fate = await world.client.getFate(unsigned, bytes.txid);
    t.regex(fate.kind === 'dead' ? fate.proof : fate.kind, /^sequence \d+ is used at ledger/);
    t.like(await world.client.broadcast(bytes), { kind: 'unknown' }, 'a used sequence is never a final refusal');
  });
}

test('M30 two servers must prove a death; one that has the transaction ends the question', async (t) => {
  const world = openWorld(['rpc', 'horizon']),
    [rpc, horizon] = world.servers;
  world.pay(own.address, 100n * XLM);
  const unsigned = must(await build(world, intentOf(own))),
    bytes = signed(unsigned);
  for (let i = 0; i < 5; i += 1) world.ledger.close(60);
  t.like(await world.client.getFate(unsigned, bytes.txid), { kind: 'dead' });
  horizon!.dead = true;
  t.like(await world.client.getFate(unsigned, bytes.txid), { kind: 'unknown' }, 'one proof of two');
  horizon!.dead = false;
  const late = must(await build(world, intentOf(own))),
    landed = signed(late);
  await world.client.broadcast(landed);
  world.ledger.close();
  for (let i = 0; i < 5; i += 1) world.ledger.close(60);
  rpc!.lie = (what, honest) => (what === 'getTransaction' ? { ...(honest as object), status: 'NOT_FOUND' } : honest);
  t.like(await readerOf(world.servers.map(endpointOf)).client.getFate(late, landed.txid), { kind: 'included' });
});

test('M21 M28 a fee bump around the unchanged transaction takes its place in a surge, paid by the sender or the gas tank', async (t) => {
  for (const payer of ['sender', 'tank'] as const) {
    const world = openWorld(['rpc']),
      { ledger } = world;
    world.pay(own.address, 100n * XLM);
    world.pay(tank.address, 100n * XLM);
    const unsigned = must(await build(world, intentOf(own, { amount: 5n * XLM }))),
      bytes = signed(unsigned);
    ledger.surgeFee = 500n;
    t.like(await world.client.broadcast(bytes), { kind: 'accepted' });
    ledger.close();
    t.like(await world.client.getFate(unsigned, bytes.txid), { kind: 'unknown' }, 'it waits');
    const intent = intentOf(own, payer === 'tank' ? { feePayer: tank.address } : {});
    const bumped = must(xlm.reprice(stellar, unsigned, await world.client.fetchBuildInputs(intent)));
    t.deepEqual([bumped.amount, bumped.to, bumped.replayKey], [unsigned.amount, unsigned.to, unsigned.replayKey]);
    t.is(bumped.feeMax, 2_000n, 'ten times the old offer, for one operation more');
    const again = signed(bumped, tank.key);
    t.not(again.txid, bytes.txid);
    t.like(await world.client.broadcast(again), { kind: 'accepted' });
    ledger.close();
    t.like(await world.client.getFate(bumped, again.txid), {
      kind: 'included',
      outcome: { success: true, fee: 1_000n },
    });
    t.like(await world.client.getFate(unsigned, bytes.txid), { kind: 'included' }, 'both names lead to it');
    t.is(ledger.state.account(shop)!.balance, 5n * XLM, 'paid once');
    const [outcome] = xlm.outcomesIn(
      stellar,
      await world.client.getBlock(ledger.newest.height),
      new Set([bytes.txid, again.txid]),
    );
    t.like(outcome, { txid: again.txid, success: true });
    t.is(ledger.state.account(tank.address)!.balance, 100n * XLM - (payer === 'tank' ? 1_000n : 0n));
    t.like(
      xlm.reprice(stellar, bumped, await world.client.fetchBuildInputs(intent)),
      { ok: false, code: 'CONFLICT' },
      'what has landed is not repriced',
    );
  }
});

test('M28 the gas tank pays for a token payment of an address that has nothing beyond its reserve', async (t) => {
  const world = openWorld(['rpc']),
    { ledger, token, payer, issuer } = world;
  settle(ledger, payer, [creation(own.address, (15n * XLM) / 10n), creation(tank.address, 20n * XLM)]);
  ledger.state.put({ ...ledger.state.account(own.address)!, subentries: 1 });
  ledger.state.put({
    kind: 'line',
    account: own.address,
    asset: token.contract,
    balance: 9n * XLM,
    limit: 2n ** 63n - 1n,
    flags: 1,
  });
  ledger.close();
  const intent = intentOf(own, { to: issuer.publicKey(), token, amount: 'all' });
  t.deepEqual(codeOf(await build(world, intent)), ['INSUFFICIENT_GAS', 'tx_insufficient_balance']);
  const unsigned = must(await build(world, { ...intent, feePayer: tank.address })),
    bytes = signed(unsigned, tank.key);
  t.deepEqual(xlmSigner.coSigners!(unsigned), [tank.address]);
  t.throws(() => signed(unsigned), { message: /key is not that of the account/ });
  t.like(await world.client.broadcast(bytes), { kind: 'accepted' });
  ledger.close();
  t.like(await world.client.getFate(unsigned, bytes.txid), { kind: 'included', outcome: { success: true, fee: 200n } });
  t.is(ledger.state.account(own.address)!.balance, (15n * XLM) / 10n, 'the sender has paid nothing');
});

test('M19 M21 an expired transaction is built again under its own sequence: at most one of the two can land', async (t) => {
  const world = openWorld(['rpc']);
  world.pay(own.address, 100n * XLM);
  const intent = intentOf(own, { amount: 5n * XLM }),
    unsigned = must(await build(world, intent));
  world.ledger.close(200);
  const rebuilt = must(
    xlm.reprice(stellar, unsigned, await readerOf(world.servers.map(endpointOf)).client.fetchBuildInputs(intent)),
  );
  t.deepEqual([rebuilt.replayKey, rebuilt.amount, rebuilt.to], [unsigned.replayKey, unsigned.amount, unsigned.to]);
  t.is(rebuilt.readAtHeight, unsigned.readAtHeight, 'the fate of both is looked for from there');
  t.true(Number(rebuilt.fee['maxTime']) > Number(unsigned.fee['maxTime']));
  t.like(await world.client.broadcast(signed(rebuilt)), { kind: 'accepted' });
  world.ledger.close();
  t.like(await world.client.broadcast(signed(unsigned)), { kind: 'unknown' });
  t.is(world.ledger.state.account(shop)!.balance, 5n * XLM);
});

test('M21 in a surge what others offer is offered, up to the cap', async (t) => {
  for (const kind of KINDS) {
    const world = openWorld([kind]),
      { ledger } = world;
    world.pay(own.address, 100n * XLM);
    const offer = async () => must(await build(world, intentOf(own))).feeMax;
    t.is(await offer(), 100n);
    ledger.surgeFee = 700n;
    t.is(await offer(), kind === 'rpc' ? 700n : 1_400n, 'Horizon knows what was offered, RPC what was charged');
    ledger.surgeFee = 90_000n;
    t.is(await offer(), stellar.feeCap);
  }
});

test('9.2 an older Horizon has no way to submit without waiting; it is told as well', async (t) => {
  const world = openWorld(['horizon']),
    [server] = world.servers;
  server!.hasAsync = false;
  world.pay(own.address, 100n * XLM);
  const unsigned = must(await build(world, intentOf(own))),
    bytes = signed(unsigned);
  t.like(await world.client.broadcast(bytes), { kind: 'accepted' });
  t.like(await world.client.getFate(unsigned, bytes.txid), { kind: 'included' });
  server!.closesOnSubmit = false;
  const waiting = signed(must(await build(world, intentOf(own))));
  t.like(await world.client.broadcast(waiting), { kind: 'unknown' }, 'a 504 of a server that waits');
  world.ledger.close();
  t.is(
    (await world.client.broadcast(waiting)).kind,
    'accepted',
    'the same bytes again get the same answer, and are paid once',
  );
});

test('G10 one server that is behind refuses what another one takes', async (t) => {
  const world = openWorld(['rpc', 'rpc']),
    [first] = world.servers;
  world.pay(own.address, 100n * XLM);
  const bytes = signed(must(await build(world, intentOf(own))));
  first!.lie = (what, honest) =>
    what === 'sendTransaction'
      ? { ...(honest as object), status: 'ERROR', errorResultXdr: 'AAAAAAAAAGT////4AAAAAA==' }
      : honest;
  t.true(['accepted', 'already_known'].includes((await world.client.broadcast(bytes)).kind));
});

test('G28 a txid that is not that of the bytes is a fault, and so is another hash from a server', async (t: ExecutionContext) => {
  const world = openWorld(['rpc']),
    [server] = world.servers;
  world.pay(own.address, 100n * XLM);
  const bytes = signed(must(await build(world, intentOf(own))));
  await t.throwsAsync(() => world.client.broadcast({ ...bytes, txid: 'ab'.repeat(32) }), { message: /txid/ });
  server!.lie = (what, honest) =>
    what === 'sendTransaction' ? { ...(honest as object), hash: 'ab'.repeat(32) } : honest;
  await t.throwsAsync(() => world.client.broadcast(bytes), { message: /another hash/ });
});

test('K4 facts of an asset: its code, seven decimals, and an issuer that is there', async (t) => {
  const world = openWorld(['rpc']),
    { token } = world;
  const [code, issuer] = token.contract.split(':') as [string, string];
  t.deepEqual(await world.client.fetchTokenFacts(token.contract), {
    ...{ symbol: 'USDC', name: 'USDC', decimals: 7 },
    sac: new Asset(code, issuer).contractId(Networks.PUBLIC),
  });
  t.like(await world.client.fetchTokenFacts(`USDC:${person(99).publicKey()}`), {
    ok: false,
    code: 'TOKEN_NOT_SUPPORTED',
  });
  t.true(await world.client.seesInternal());
});

test('G26 the inputs of a build are JSON-safe and of one ledger', async (t) => {
  for (const kind of KINDS) {
    const world = openWorld([kind]);
    world.pay(own.address, 100n * XLM);
    const inputs: XlmInputs = await world.client.fetchBuildInputs(
      intentOf(own, { token: world.token, to: world.issuer.publicKey() }),
    );
    t.deepEqual(JSON.parse(JSON.stringify(inputs)), inputs);
    t.is(inputs.readAtHeight, world.ledger.newest.height);
    t.not(inputs.issuer, null);
    const server = new StellarServer(world.ledger, kind);
    t.is(
      (await readerOf([endpointOf(server)]).client.fetchBuildInputs(intentOf(own))).sender!.sequence,
      inputs.sender!.sequence,
    );
  }
});
