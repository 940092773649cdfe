import test from 'ava';
import fc from 'fast-check';
import { type Block, MalformedReply } from '../../../../chains/chain.ts';
import { bitcoin, litecoinRegtest, type BtcNetwork } from '../../../../chains/btc/network.ts';
import { outcomesIn, transfersIn, type BtcBlock } from '../../../../chains/btc/transfers.ts';
import { parseLossless } from '../../../../protocol/lossless-json.ts';
import { answer, expectedCases } from '../../../support/vectors.ts';

const testnet: BtcNetwork = { ...bitcoin, prefixes: { bech32: 'tb', p2pkh: 0x6f, p2sh: 0xc4 } };

function blockOf(raw: unknown): Block<BtcBlock> {
  const block = raw as Record<string, unknown>;
  return {
    height: 1,
    hash: '',
    parentHash: '',
    parentHeight: 0,
    timeMs: null,
    raw: 'tx' in block ? block : { tx: [block] },
  };
}

const decode = (raw: unknown, network: BtcNetwork = bitcoin) => transfersIn(network, blockOf(raw), new Map());
const keyOf = (credit: { txid: string; outputIndex?: number }) => `${credit.txid}:${credit.outputIndex}`;

for (const expected of expectedCases('btc')) {
  test(`B1 B8 G2 G3 G21 ${expected.case}: exactly the expected payments, in satoshi`, (t) => {
    const { transfers, ignored } = decode(answer(expected.files[0]!), expected.network === 'test' ? testnet : bitcoin);
    const policy = new Set(expected.policy?.map(keyOf));
    t.deepEqual(
      transfers.map(({ txid, outputIndex, to, amount, threshold }) => [
        txid,
        outputIndex,
        to,
        amount.toString(),
        threshold ?? 3,
      ]),
      expected.credits!.map((credit) => [
        credit.txid,
        credit.outputIndex,
        credit.address,
        credit.amount,
        credit.coinbase ? 101 : 3,
      ]),
    );
    const credited = new Set(transfers.map(keyOf));
    for (const credit of [...expected.mustNotCredit!, ...(expected.policy ?? [])]) {
      t.false(credited.has(keyOf(credit)));
      t.true(
        ignored.some(({ txid, reason }) => txid === credit.txid && reason.startsWith(`output ${credit.outputIndex}:`)),
      );
    }
    t.is(
      ignored.filter(({ reason }) => reason.includes('change')).length,
      policy.size,
      'change is what the policy names',
    );
  });
}

const P2PKH = '76a914000102030405060708090a0b0c0d0e0f1011121388ac';
const OTHER = '0014000102030405060708090a0b0c0d0e0f10111213';
const TXID = 'ab'.repeat(32);

function transaction(fields: Record<string, unknown>, ...outputs: [value: string, hex: string][]): unknown {
  const vout = outputs
    .map(([value, hex], n) => `{"value":${value},"n":${n},"scriptPubKey":{"hex":"${hex}"}}`)
    .join(',');
  const rest = JSON.stringify({ txid: TXID, vin: [{ txid: 'cd'.repeat(32), vout: 0 }], ...fields }).slice(1);
  return { tx: [parseLossless(`{"vout":[${vout}],${rest}`)] };
}

test('B1 two outputs to one address in one transaction are two deposits', (t) => {
  const { transfers } = decode(transaction({}, ['0.1', P2PKH], ['0.2', P2PKH]));
  t.deepEqual(
    transfers.map(({ outputIndex, amount }) => [outputIndex, amount]),
    [
      [0, 10_000_000n],
      [1, 20_000_000n],
    ],
  );
  t.is(transfers[0]!.to, transfers[1]!.to);
});

test('B3 a coinbase output has its own threshold of 101 confirmations', (t) => {
  const [reward] = decode(transaction({ vin: [{ coinbase: '03' }] }, ['6.25', P2PKH])).transfers;
  t.is(reward!.threshold, 101);
});

test('B5 C2-17 the credit key of a payment does not depend on the block that holds it', (t) => {
  const raw = transaction({}, ['0.1', P2PKH], ['0.2', OTHER]);
  const here = transfersIn(bitcoin, { ...blockOf(raw), height: 10, hash: 'aa' }, new Map()).transfers;
  const there = transfersIn(bitcoin, { ...blockOf(raw), height: 11, hash: 'bb' }, new Map()).transfers;
  t.deepEqual(here.map(keyOf), there.map(keyOf));
});

test('B6 dust is credited like any other output; data outputs pay nobody', (t) => {
  const { transfers, ignored } = decode(
    transaction({}, ['0.00000001', P2PKH], ['0', '6a0568656c6c6f'], ['1e-7', OTHER]),
  );
  t.deepEqual(
    transfers.map(({ amount }) => amount),
    [1n, 10n],
  );
  t.deepEqual(ignored, [{ txid: TXID, reason: 'output 1: data output: pays nobody' }]);
});

test('B7 B10 the script decides, not the address text; a bare key is not its P2PKH address', (t) => {
  const key = `21${'02'.padEnd(66, '1')}ac`;
  const raw = transaction({}, ['1', P2PKH], ['1', key]) as {
    tx: { vout: { scriptPubKey: Record<string, unknown> }[] }[];
  };
  for (const output of raw.tx[0]!.vout) output.scriptPubKey['address'] = '1BoatSLRHtKNngkdXEeobR76b53LETtpyT';
  const { transfers, ignored } = decode(raw);
  t.deepEqual(
    transfers.map(({ to }) => to),
    ['112D2adLM3UKy4Z4giRbReR6gjWuvHUqB'],
  );
  t.regex(ignored[0]!.reason, /bare public key/);
});

test('B8 G4 a value is read from its text: property over every amount of satoshi', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2_100_000_000_000_000n }), (sats) => {
        const text = `${sats / 100_000_000n}.${(sats % 100_000_000n).toString().padStart(8, '0')}`;
        t.is(decode(transaction({}, [text, P2PKH])).transfers[0]!.amount, sats);
      }),
    ),
  );
  t.throws(() => decode(transaction({}, ['0.000000001', P2PKH])), { instanceOf: MalformedReply });
  t.throws(() => decode(transaction({}, ['-1', P2PKH])), { instanceOf: MalformedReply });
  t.throws(() => decode(transaction({}, ['"x"', P2PKH])), { instanceOf: MalformedReply });
});

test('B9 G20 G21 C3-34 an output back to a script that the transaction spends is change, from prevout or from what the input reveals', (t) => {
  const spending: [string, Record<string, unknown>, string][] = [
    ['prevout', { prevout: { scriptPubKey: { hex: OTHER } } }, OTHER],
    ['redeem script', { scriptSig: { hex: '0151' } }, 'a914da1745e9b549bd0bfa1a569971c77eba30cd5a4b87'],
    [
      'witness script',
      { txinwitness: ['01', '51'] },
      '00204ae81572f06e1b88fd5ced7a1a000945432e83e1551e6f721ee9c00b8cc33260',
    ],
  ];
  for (const [name, input, script] of spending) {
    const raw = transaction({ vin: [{ txid: 'cd'.repeat(32), vout: 0, ...input }] }, ['1', P2PKH], ['2', script]);
    const { transfers, ignored } = decode(raw);
    t.deepEqual(
      transfers.map(({ outputIndex }) => outputIndex),
      [0],
      name,
    );
    t.regex(ignored[0]!.reason, /output 1: change/, name);
  }
  const key = `02${'11'.repeat(32)}`;
  const sender = decode(transaction({ vin: [{ txinwitness: ['30', key] }] }, ['1', P2PKH])).transfers[0]!.from;
  t.is(sender.length, 1);
  t.regex(sender[0]!, /^bc1q[a-z0-9]{38}$/);
});

test('G8 a block whose transactions are missing or only named is a fault, not an empty list', (t) => {
  const broken: unknown[] = [
    { tx: null },
    { tx: 'none' },
    { tx: [TXID] },
    { tx: [{ txid: TXID, vin: [] }] },
    { tx: [{ txid: 'x', vin: [], vout: [] }] },
    { tx: [{ txid: TXID, vin: [], vout: [{ value: 1, n: 1, scriptPubKey: { hex: P2PKH } }] }] },
    { tx: [{ txid: TXID, vin: [], vout: [{ value: 1, n: 0 }] }] },
  ];
  for (const raw of broken) t.throws(() => decode(raw), { instanceOf: MalformedReply }, JSON.stringify(raw));
  t.deepEqual(decode({ tx: [] }), { transfers: [], ignored: [] });
});

test('design 6: the same block reads with the prefixes of Litecoin regtest', (t) => {
  const raw = transaction(
    {},
    ['1', P2PKH],
    ['1', OTHER],
    ['1', `a914${'11'.repeat(20)}87`],
    ['1', `5120${'22'.repeat(32)}`],
  );
  const texts = decode(raw, litecoinRegtest).transfers.map(({ to }) => to);
  t.regex(texts[0]!, /^[mn]/);
  t.regex(texts[1]!, /^rltc1q/);
  t.regex(texts[2]!, /^Q/);
  t.regex(texts[3]!, /^rltc1p/);
});

test('G26 the outcome of a transaction in the block is success, with its fee where the node names it', (t) => {
  const raw = answer('nodes/btc/getblock_v3_279671.json') as { tx: { txid: string; fee?: unknown }[] };
  const wanted = raw.tx[1]!.txid;
  const [outcome, ...rest] = outcomesIn(bitcoin, blockOf(raw), new Set([wanted, 'absent']));
  t.deepEqual(rest, []);
  t.like(outcome!, { txid: wanted, success: true, reason: null });
  t.true(outcome!.fee! > 0n);
});
