import test from 'ava';
import fc from 'fast-check';
import { ChainUnavailable, MalformedReply, type Endpoint, type Transport } from '../../../../chains/chain.ts';
import { ask, tryAsk } from '../../../../chains/xrp/node.ts';
import { holds, rangesIn, standingOf } from '../../../../chains/xrp/standing.ts';
import type { Answer } from '../../../../chains/node-answer.ts';
import { parseLossless } from '../../../../protocol/lossless-json.ts';
import { vectorText } from '../../../support/vectors.ts';

interface Shape {
  name: string;
  source: string;
  response: Answer & { result?: Answer };
}
const shapes = (parseLossless(vectorText('nodes/xrp/rpc_shapes.json')) as { cases: Shape[] }).cases;
const shape = (name: string) => shapes.find((one) => one.name === name)!.response;
/** The recorded text of a case, with its numbers as the server wrote them. */
const textOf = (name: string, part = '') =>
  JSON.stringify(
    (JSON.parse(vectorText('nodes/xrp/rpc_shapes.json')) as { cases: Shape[] }).cases.find(
      (one) => one.name === name && one.source.includes(part),
    )!.response,
  );
const result = (name: string) => shape(name).result!;

test('8.2 R24 server_info of a real server: height, hash, ledgers, and XRP amounts exactly in drops', (t) => {
  t.deepEqual(standingOf(result('serverInfo')), {
    height: 6_595_042,
    hash: '4482DEE5362332F54A4036ED57EE1767C9F33CF7CE5A6670355C16CECE381D46',
    complete: [{ first: 32_570, last: 6_595_042 }],
    networkId: '0',
    reserves: { base: 20_000_000n, increment: 5_000_000n },
    baseFeeDrops: 10n,
  });
});

test('8.4 a server that is syncing, connected, blocked, stale or has no validated ledger is no judge', (t) => {
  const info = result('serverInfo')['info'] as Answer;
  for (const [answer, message] of [
    [result('server-info-syncing'), /syncing/],
    [result('server-info-no-validated'), /connected/],
    [{ info: { ...info, amendment_blocked: true } }, /amendment blocked/],
    [{ info: { ...info, validated_ledger: undefined } }, /no validated ledger/],
    [{ info: { ...info, validated_ledger: { ...(info['validated_ledger'] as Answer), age: 61 } } }, /61 s old/],
  ] as const)
    t.throws(() => standingOf(answer as Answer), { instanceOf: ChainUnavailable, message });
  t.notThrows(() =>
    standingOf({ info: { ...info, validated_ledger: { ...(info['validated_ledger'] as Answer), age: 60 } } }),
  );
  for (const state of ['full', 'proposing', 'validating', undefined])
    t.notThrows(() => standingOf({ info: { ...info, server_state: state } }));
});

test('8.2 server_state counts in drops; a network other than the main one names its number', (t) => {
  const state = {
    complete_ledgers: '1-9',
    server_state: 'full',
    network_id: 1,
    validated_ledger: { seq: 9, hash: 'ab'.repeat(32), reserve_base: 1_000_000, reserve_inc: 200_000, base_fee: 10 },
  };
  t.like(standingOf({ state }), {
    height: 9,
    hash: 'AB'.repeat(32),
    networkId: '1',
    reserves: { base: 1_000_000n, increment: 200_000n },
    baseFeeDrops: 10n,
  });
  const xrpAmounts = {
    age: 1,
    reserve_base_xrp: 1,
    reserve_inc_xrp: '0.2',
    base_fee_xrp: '1e-05',
    seq: 9,
    hash: 'ab'.repeat(32),
  };
  t.like(standingOf({ info: { complete_ledgers: '1-9', validated_ledger: xrpAmounts } }), {
    reserves: { base: 1_000_000n, increment: 200_000n },
    baseFeeDrops: 10n,
  });
  for (const bad of [{ reserve_base_xrp: undefined }, { reserve_inc_xrp: '0.00000001' }, { seq: -1 }, { hash: 'x' }]) {
    t.throws(() => standingOf({ info: { complete_ledgers: '1-9', validated_ledger: { ...xrpAmounts, ...bad } } }), {
      instanceOf: MalformedReply,
    });
  }
});

test('8.4-2 complete_ledgers: ranges, single ledgers, none; a gap is a gap', (t) => {
  t.deepEqual(rangesIn('5,10-20, 30-31'), [
    { first: 5, last: 5 },
    { first: 10, last: 20 },
    { first: 30, last: 31 },
  ]);
  t.deepEqual(rangesIn('empty'), []);
  for (const bad of ['', '5-', 'a-b', '5-6-7', undefined, 7])
    t.throws(() => rangesIn(bad), { instanceOf: MalformedReply });
  const ranges = rangesIn('5,10-20');
  t.deepEqual(
    [
      holds(ranges, 5),
      holds(ranges, 10, 20),
      holds(ranges, 9),
      holds(ranges, 10, 21),
      holds(ranges, 5, 10),
      holds([], 1),
    ],
    [true, true, false, false, false, false],
  );
  fc.assert(
    fc.property(fc.nat(1_000), fc.nat(1_000), fc.nat(1_000), (first, length, height) => {
      t.is(holds(rangesIn(`${first}-${first + length}`), height), height >= first && height <= first + length);
    }),
  );
});

function saying(text: string, status = 200) {
  const reports: string[] = [];
  const endpoint: Endpoint = { name: 'one', request: async () => ({ status, headers: {}, text }) };
  const transport = {
    endpoints: [endpoint],
    report: (_: Endpoint, outcome: string) => {
      reports.push(outcome);
    },
  } as unknown as Transport;
  return { ask: () => ask(transport, endpoint, 'x'), tryAsk: () => tryAsk(transport, endpoint, 'x'), reports };
}

test('8.2 errors come with HTTP 200, inside of the result or beside it; the recorded ones are read by their word', async (t) => {
  for (const [name, token] of [
    ['account-info-not-found', 'actNotFound'],
    ['ledger-not-found', 'lgrNotFound'],
    ['not-found', 'txnNotFound'],
  ] as const) {
    const beside = await saying(textOf(name)).tryAsk();
    t.like(beside, { ok: false, error: { token } });
    const { id: _id, type: _type, ...inside } = JSON.parse(textOf(name)) as Record<string, unknown>;
    t.like(await saying(JSON.stringify({ result: inside })).tryAsk(), { ok: false, error: { token } });
    await t.throwsAsync(() => saying(textOf(name)).ask(), { instanceOf: ChainUnavailable, message: new RegExp(token) });
  }
  const fine = await saying(textOf('accountInfo')).ask();
  t.is((fine['account_data'] as Answer)['Balance'], '922913243');
});

test('G8 1.7 nothing, an empty object, an error without a word and plain text prove nothing', async (t) => {
  for (const text of [
    '{}',
    '',
    '{"result":{"status":"success"},"status":"error"}',
    '{"result":null}',
    '[]',
    'null',
    '{"status":"success"}',
    '<html>',
  ]) {
    await t.throwsAsync(() => saying(text).ask(), undefined, text);
  }
  for (const status of [400, 403, 500])
    await t.throwsAsync(() => saying('invalid_API_version', status).ask(), {
      instanceOf: ChainUnavailable,
      message: new RegExp(`http ${status}`),
    });
  await t.throwsAsync(
    () => saying('{"error":{"code":-32000,"message":"over https://user:key@node.example/x"}}').ask(),
    { message: /-32000 \(over <url>\)/ },
    'X2',
  );
});

test('8.2 a server that is too busy is asked later and another one meanwhile', async (t) => {
  for (const token of ['tooBusy', 'slowDown', 'noNetwork', 'noCurrent', 'amendmentBlocked']) {
    const server = saying(JSON.stringify({ result: { error: token, error_code: 9, status: 'error' } }));
    await t.throwsAsync(() => server.ask(), { instanceOf: ChainUnavailable, message: new RegExp(token) });
    t.deepEqual(server.reports, ['failed']);
  }
});
