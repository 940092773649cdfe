import test from 'ava';
import fc from 'fast-check';
import {
  addressFromNode,
  addressOf,
  checkDestination,
  parseAddress,
  parseToken,
  ZERO_ACCOUNT,
} from '../../../../chains/tron/address.ts';
import { tron } from '../../../../chains/tron/network.ts';
import { vector } from '../../../support/vectors.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

test('G6 property: the three spellings of any account are one, and decode to its 20 bytes', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (account) => {
        const text = addressOf(account);
        const parsed = parseAddress(tron, text);
        t.true(parsed.ok && parsed.canonical === text && parsed.kind === 'tron' && hex(parsed.bytes) === hex(account));
        t.deepEqual(
          [text, `41${hex(account)}`, hex(account), `41${hex(account)}`.toUpperCase()].map((spelling) =>
            addressFromNode(tron, spelling),
          ),
          [text, text, text, text],
        );
      }),
    ),
  );
});

test('6.1 the hex forms of the vectors are the forms of nodes, not of customers', (t) => {
  for (const { address, valid, hex: bytes } of vector<{ cases: { address: string; valid: boolean; hex?: string }[] }>(
    'addresses/tron.json',
  ).cases) {
    if (!valid) continue;
    t.is(addressFromNode(tron, bytes), address);
    t.false(parseAddress(tron, bytes!).ok);
    t.false(parseAddress(tron, `T${bytes!}`).ok, 'a T pasted before hex');
  }
  for (const text of [null, 5, '', '0x', '41', 'xyz', `42${'00'.repeat(20)}`, `0x${'00'.repeat(20)}`])
    t.is(addressFromNode(tron, text), null);
});

test('6.1 the zero account and listed contracts may not be paid', (t) => {
  const destination = (text: string, contracts: string[] = []) => {
    const parsed = parseAddress(tron, text);
    return parsed.ok
      ? checkDestination(
          tron,
          parsed,
          new Map(
            contracts.map((contract) => [contract, { chain: 'tron', contract, symbol: 'X', decimals: 6 } as const]),
          ),
        )
      : parsed;
  };
  const usdt = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
  t.is(destination(ZERO_ACCOUNT)?.code, 'INVALID_ADDRESS');
  t.is(destination(usdt, [usdt])?.code, 'INVALID_ADDRESS');
  t.is(destination(usdt), null);
  t.is(parseToken(tron, usdt), usdt);
  t.like(parseToken(tron, 'USDT'), { code: 'TOKEN_NOT_SUPPORTED' });
});
