/** T13: the payload's bytes, held to recorded transactions of the main network and to tronweb. */
import test from 'ava';
import fc from 'fast-check';
import secp256k1 from 'secp256k1';
import { utils } from 'tronweb';
import { addressOf, bytesOf } from '../../../../chains/tron/address.ts';
import { decodeMessage, encodeMessage } from '../../../../chains/tron/protobuf.ts';
import {
  decodeRaw,
  encodeRaw,
  txidOf,
  type RawData,
  type TronContract,
} from '../../../../chains/tron/raw-transaction.ts';
import { decodeSigned, encodeSigned } from '../../../../chains/tron/signed.ts';
import { jsonOf } from '../../../../chains/tron/transaction-json.ts';
import { bandwidthBytesOf } from '../../../../chains/tron/fee.ts';
import { messageOf } from '../../../../developer/stand-ins/tron/wire.ts';
import { vector } from '../../../support/vectors.ts';

interface Recorded {
  txID: string;
  raw_data_hex: string;
  signature: string[];
  raw_data: {
    expiration: number;
    timestamp: number;
    fee_limit?: number;
    ref_block_bytes: string;
    ref_block_hash: string;
    contract: { type: string; parameter: { value: Record<string, unknown> } }[];
  };
}
const transactions = vector<{ transactions: Recorded[] }>('nodes/tron/block_assembled.getblockbynum.json').transactions;
const trigger = vector<{ cases: { name: string; response: unknown }[] }>('nodes/tron/rpc_shapes.json').cases.find(
  ({ name }) => name === 'triggersmartcontract (visible true)',
)!.response as { transaction: Recorded };

const decoded = (payload: string): RawData => {
  const read = decodeRaw(payload);
  if (!read.ok) throw new Error(read.reason);
  return read.raw;
};
const flaw = (payload: string): string | null => {
  const read = decodeRaw(payload);
  return read.ok ? null : read.reason;
};
const hexAddress = (text: string) => `41${Buffer.from(bytesOf(text)).toString('hex')}`;

const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(addressOf);
const int64 = fc.bigInt(0n, 2n ** 63n - 1n);
/** tronweb holds integers in doubles. */
const exactInteger = fc.bigInt(0n, 2n ** 53n - 1n);
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value) => Buffer.from(value).toString('hex'));
const contractWith = (int: fc.Arbitrary<bigint>): fc.Arbitrary<TronContract> =>
  fc.oneof(
    fc.record({ type: fc.constant('TransferContract' as const), owner: address, to: address, amount: int }),
    fc.record({
      type: fc.constant('TriggerSmartContract' as const),
      owner: address,
      contract: address,
      callValue: int,
      data: hex(68),
      callTokenValue: int,
      tokenId: int,
    }),
    fc.record({
      type: fc.constant('DelegateResourceContract' as const),
      owner: address,
      resource: fc.constantFrom(0n, 1n),
      balance: int,
      receiver: address,
      lock: fc.boolean(),
      lockPeriod: int,
    }),
    fc.record({
      type: fc.constant('UnDelegateResourceContract' as const),
      owner: address,
      resource: fc.constantFrom(0n, 1n),
      balance: int,
      receiver: address,
    }),
  );
const time = fc.integer({ min: 1, max: 2 ** 45 });
const rawWith = (int: fc.Arbitrary<bigint>): fc.Arbitrary<RawData> =>
  fc.record({
    refBlockBytes: hex(2),
    refBlockHash: hex(8),
    expirationMs: time,
    timestampMs: time,
    feeLimit: int,
    contract: contractWith(int),
  });

test('T13 recorded payloads of the main network: read, written again byte for byte, and hashed to their txid', (t) => {
  let read = 0;
  for (const { raw_data_hex: payload, txID, raw_data: said } of [...transactions, trigger.transaction]) {
    t.is(txidOf(payload), txID);
    const type = said.contract[0]!.type;
    if (type !== 'TransferContract' && type !== 'TriggerSmartContract') {
      t.is(flaw(payload), 'contract_type', type);
      continue;
    }
    read += 1;
    const mine = decoded(payload);
    t.is(encodeRaw(mine), payload);
    t.like(mine, {
      expirationMs: said.expiration,
      timestampMs: said.timestamp,
      refBlockBytes: said.ref_block_bytes,
      refBlockHash: said.ref_block_hash,
    });
    t.is(mine.feeLimit, BigInt(said.fee_limit ?? 0));
    const { value } = said.contract[0]!.parameter;
    if (mine.contract.type === 'TransferContract') t.is(mine.contract.amount, BigInt(value['amount'] as number));
    else if (mine.contract.type === 'TriggerSmartContract') t.is(mine.contract.data, value['data'] as string);
  }
  t.true(read >= 8);
});

test('T13 G28 the signatures of recorded transactions recover to their owners', (t) => {
  for (const {
    raw_data_hex: payload,
    signature,
    txID,
    raw_data: {
      contract: [one],
    },
  } of transactions) {
    const bytes = encodeMessage(
      [
        [1, 'raw', 'bytes'],
        [2, 'signature', 'bytes'],
      ],
      { raw: Buffer.from(payload, 'hex'), signature: Buffer.from(signature[0]!, 'hex') },
    );
    const read = decodeSigned({}, Buffer.from(bytes).toString('hex'));
    if (!read.ok) return t.fail(read.reason);
    t.is(hexAddress(read.from), one!.parameter.value['owner_address'] as string);
    t.is(read.txid, txID);
  }
  return undefined;
});

test('T19 the bandwidth of recorded transactions is what their receipts name', (t) => {
  const infos = vector<{ id: string; receipt: { net_usage?: number; net_fee?: number } }[]>(
    'nodes/tron/block_assembled.gettransactioninfobyblocknum.json',
  );
  const pricePerByte = 10; // sun, in June 2020
  let compared = 0;
  for (const { raw_data_hex: payload, txID } of transactions) {
    const { net_usage: used = 0, net_fee: fee = 0 } = infos.find(({ id }) => id === txID)!.receipt;
    if (used === 0 && fee === 0) continue;
    t.is(Number(bandwidthBytesOf(payload)), used > 0 ? used : fee / pricePerByte, txID);
    compared += 1;
  }
  t.true(compared >= 8);
  t.is(bandwidthBytesOf(trigger.transaction.raw_data_hex), 345n, 'net_fee 345000 of the same call at 1,000 sun');
});

test('G4 T13 property: what is written is read back, every integer of 63 bits exactly', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(rawWith(int64), (value) => t.deepEqual(decoded(encodeRaw(value)), value)),
      { numRuns: 200 },
    ),
  );
});

test('T13 property: tronweb makes the same bytes and the same txid of it', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(rawWith(exactInteger), (value) => {
        const payload = encodeRaw(value);
        const json = jsonOf({ raw: value, payload, signature: '', txid: txidOf(payload) }) as {
          raw_data: { contract: { parameter: { value: Record<string, unknown> } }[] };
        };
        if (value.contract.type === 'TriggerSmartContract') {
          const { callTokenValue, tokenId } = value.contract;
          Object.assign(json.raw_data.contract[0]!.parameter.value, {
            call_token_value: Number(callTokenValue),
            token_id: Number(tokenId),
          });
        }
        const pb = utils.transaction.txJsonToPb(json);
        t.is(utils.transaction.txPbToRawDataHex(pb).toLowerCase(), payload);
        t.is(utils.transaction.txPbToTxID(pb), `0x${txidOf(payload)}`);
      }),
      { numRuns: 200 },
    ),
  );
});

const honest: RawData = {
  refBlockBytes: 'e5e0',
  refBlockHash: '2c5c36c5fea2de8a',
  expirationMs: 1_788_506_022_000,
  timestampMs: 1_788_505_964_581,
  feeLimit: 0n,
  contract: {
    type: 'TransferContract',
    owner: addressOf(new Uint8Array(20).fill(1)),
    to: addressOf(new Uint8Array(20).fill(2)),
    amount: 5n,
  },
};
type Part = readonly [number, bigint | Buffer];
const bytes = (text: string) => Buffer.from(text, 'hex');
const transferValue = messageOf([1, bytes(`41${'01'.repeat(20)}`)], [2, bytes(`41${'02'.repeat(20)}`)], [3, 5n]);
const anyOf = (type: string, value: Buffer) =>
  messageOf([1, Buffer.from(`type.googleapis.com/protocol.${type}`)], [2, value]);
const contractOf = (...more: readonly Part[]) =>
  messageOf([1, 1n], [2, anyOf('TransferContract', transferValue)], ...more);
const rawOf = (contractParts: readonly Buffer[], more: readonly Part[] = [], after: readonly Part[] = []) =>
  messageOf(
    [1, bytes('e5e0')],
    [4, bytes('2c5c36c5fea2de8a')],
    [8, 1_788_506_022_000n],
    ...more,
    ...contractParts.map((part) => [11, part] as const),
    [14, 1_788_505_964_581n],
    ...after,
  ).toString('hex');

test('T13 T16 whatever a payment does not need is named: memo, permission, contracts, unknown fields, order, defaults', (t) => {
  t.is(rawOf([contractOf()]), encodeRaw(honest));
  const cases: [string, string][] = [
    [rawOf([contractOf()], [[10, Buffer.from('a memo')]]), 'memo'],
    [rawOf([contractOf([5, 2n])]), 'permission_id'],
    [rawOf([contractOf(), contractOf()]), 'contract_count'],
    [rawOf([]), 'contract_count'],
    [rawOf([contractOf()], [[9, Buffer.from('auths')]]), 'unknown_field'],
    [rawOf([contractOf()], [[3, 5n]]), 'unknown_field'],
    [rawOf([contractOf()], [], [[12, Buffer.from('scripts')]]), 'unknown_field'],
    [rawOf([contractOf()], [], [[99, 1n]]), 'unknown_field'],
    [rawOf([contractOf([3, Buffer.from('provider')])]), 'unknown_field'],
    [rawOf([contractOf([4, Buffer.from('name')])]), 'unknown_field'],
    [rawOf([contractOf()], [[8, 1_788_506_022_001n]]), 'repeated_field'],
    [rawOf([contractOf()], [], [[1, bytes('e5e0')]]), 'repeated_field'],
    [rawOf([messageOf([1, 2n], [2, anyOf('TransferAssetContract', transferValue)])]), 'contract_type'],
    [rawOf([messageOf([1, 31n], [2, anyOf('TransferContract', transferValue)])]), 'contract_type'],
    [rawOf([messageOf([1, 1n], [2, anyOf('TransferContract ', transferValue)])]), 'contract_type'],
    [
      rawOf([messageOf([1, 1n], [2, anyOf('TransferContract', Buffer.concat([transferValue, messageOf([9, 1n])]))])]),
      'unknown_field',
    ],
    [
      rawOf([messageOf([1, 1n], [2, Buffer.concat([anyOf('TransferContract', transferValue), messageOf([3, 1n])])])]),
      'unknown_field',
    ],
    [
      rawOf([
        messageOf(
          [1, 1n],
          [
            2,
            anyOf(
              'TransferContract',
              messageOf([1, bytes(`42${'01'.repeat(20)}`)], [2, bytes(`41${'02'.repeat(20)}`)], [3, 5n]),
            ),
          ],
        ),
      ]),
      'address',
    ],
    [
      rawOf([
        messageOf(
          [1, 1n],
          [
            2,
            anyOf(
              'TransferContract',
              messageOf([1, bytes('01'.repeat(20))], [2, bytes(`41${'02'.repeat(20)}`)], [3, 5n]),
            ),
          ],
        ),
      ]),
      'address',
    ],
    [rawOf([messageOf([1, 1n], [2, anyOf('TransferContract', messageOf([3, 5n]))])]), 'address'],
    [rawOf([contractOf()]).replace('0a02e5e0', ''), 'reference_block'],
    [rawOf([contractOf()]).replace('0a02e5e0', '0a01e5'), 'reference_block'],
    // fields out of order, an explicit default, and a varint with a byte too many are the same values in other bytes
    [`${rawOf([contractOf()]).slice(8)}0a02e5e0`, 'not_canonical'],
    [`${rawOf([contractOf()])}900100`, 'not_canonical'],
    [rawOf([contractOf()]).replace('70a5808dda8634', '70a5808dda86b400'), 'not_canonical'],
    ['', 'unreadable'],
    ['0a', 'unreadable'],
    ['zz', 'unreadable'],
    [encodeRaw(honest).toUpperCase(), 'unreadable'],
    [encodeRaw(honest).slice(0, -2), 'unreadable'],
    ['08', 'unreadable'],
    ['0d00000000', 'unreadable'],
    ['ffffffffffffffffffffff01', 'unreadable'],
  ];
  for (const [payload, reason] of cases) t.is(flaw(payload), reason, payload);
});

test('T13 an integer beyond int64 is none, and one below zero is not written', (t) => {
  const table = [[3, 'amount', 'integer']] as const;
  t.like(decodeMessage(table, messageOf([3, -1n])), { ok: false, reason: 'unreadable' });
  t.throws(() => encodeMessage(table, { amount: -1n }), { instanceOf: RangeError });
  t.throws(() => encodeMessage(table, { amount: 2n ** 63n }), { instanceOf: RangeError });
  t.is(Buffer.from(encodeMessage(table, { amount: 2n ** 63n - 1n })).toString('hex'), '18ffffffffffffffff7f');
});

test('T13 property: a payload with any byte changed is another transaction or none; it is never read as the same one', (t) => {
  const payload = Buffer.from(encodeRaw(honest), 'hex');
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.nat(payload.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = Buffer.from(payload);
        changed[at]! ^= flip;
        const read = decodeRaw(changed.toString('hex'));
        if (read.ok) t.notDeepEqual(read.raw, honest);
      }),
      { numRuns: 1_000 },
    ),
  );
});

test('T13 signed bytes carry exactly one signature that belongs to a key', (t) => {
  const payload = encodeRaw(honest),
    { signature, recid } = secp256k1.ecdsaSign(bytes(txidOf(payload)), new Uint8Array(32).fill(7));
  const good = encodeSigned(payload, signature, recid),
    compact = Buffer.from(signature).toString('hex');
  const reason = (signed: string) => {
    const read = decodeSigned({}, signed);
    return read.ok ? null : read.reason;
  };
  const signedOf = (...parts: readonly Part[]) => messageOf([1, bytes(payload)], ...parts).toString('hex');
  t.is(reason(good), null);
  t.is(
    reason(signedOf([2, bytes(`${compact}0${recid}`)])),
    null,
    'the recovery id alone, as recorded transactions have it',
  );
  t.is(reason(signedOf()), 'signature_count');
  t.is(reason(signedOf([2, bytes(`${compact}1b`)], [2, bytes(`${compact}1b`)])), 'signature_count');
  t.is(reason(signedOf([2, bytes(`${'11'.repeat(64)}1b`)], [5, bytes('00')])), 'unknown_field');
  for (const wrong of [compact, `${compact}1b00`, `${compact}1f`, `${'ff'.repeat(64)}1b`, `${'00'.repeat(64)}1b`])
    t.is(reason(signedOf([2, bytes(wrong)])), 'signature', wrong);
  t.is(reason(messageOf([2, bytes(`${'11'.repeat(64)}1b`)]).toString('hex')), 'unreadable');
  t.is(reason(messageOf([2, bytes(`${'11'.repeat(64)}1b`)], [1, bytes(payload)]).toString('hex')), 'not_canonical');
  for (const junk of ['', 'zz', '0a']) t.is(reason(junk), 'unreadable');
});
