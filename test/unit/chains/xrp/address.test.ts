import test from 'ava';
import fc from 'fast-check';
import { classicAddressToXAddress, encodeAccountID } from 'xrpl';
import { addressOf, checkDestination, parseAddress, parseToken } from '../../../../chains/xrp/address.ts';
import { xrp } from '../../../../chains/xrp/network.ts';

const account = fc.uint8Array({ minLength: 20, maxLength: 20 });

test('G6 property: 20 bytes → classic text → 20 bytes, equal to the SDK', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(account, (bytes) => {
        const text = addressOf(bytes);
        t.is(text, encodeAccountID(bytes));
        const parsed = parseAddress(xrp, text);
        t.true(
          parsed.ok && parsed.canonical === text && parsed.tag === null && Buffer.compare(parsed.bytes, bytes) === 0,
        );
      }),
    ),
  );
});

test('8.1 C8-62 property: an X-address is its classic address and its tag; those of test networks are refused', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(account, fc.option(fc.nat(2 ** 32 - 1)), (bytes, tag) => {
        const classic = addressOf(bytes);
        const parsed = parseAddress(xrp, classicAddressToXAddress(classic, tag ?? false, false));
        if (!parsed.ok) return t.fail();
        t.deepEqual(
          [parsed.canonical, parsed.tag, parsed.kind],
          [classic, tag === null ? null : String(tag), 'classic'],
        );
        t.false(parseAddress(xrp, classicAddressToXAddress(classic, tag ?? false, true)).ok);
      }),
    ),
  );
});

test('8.1 tag 0 is a tag', (t) => {
  const tagOf = (text: string) => {
    const parsed = parseAddress(xrp, text);
    return parsed.ok ? parsed.tag : parsed.code;
  };
  t.is(tagOf('XVMFQQBMhdouRqhPMuawgBMN1AVFTofPAdRsXG5RkPtUPNQ'), null);
  t.is(tagOf('XVMFQQBMhdouRqhPMuawgBMN1AVFToUN3u1CU1342EmLWLX'), '0');
  t.is(tagOf('XVLhHMPHU98es4dbozjVtdWzVrDjtV18pX8yuPT7y4xaEHi'), '4294967295');
});

test('2.2 a seed is key material, not a wrong address; the reason does not repeat it', (t) => {
  for (const seed of [
    'ssegMi5ZXD8sTRMc1sjxZbhroS4Mm',
    'sn3nxiW7v8KXzPzAqzyHXbSSKNuN9',
    'sEdTM1uX8pu2do5XvTnutH6HsouMaM2',
  ]) {
    const parsed = parseAddress(xrp, seed);
    t.false(parsed.ok);
    if (!parsed.ok) t.false(JSON.stringify(parsed).includes(seed.slice(0, 8)));
  }
  const valid = parseAddress(xrp, 'sn3nxiW7v8KXzPzAqzyHXbSSKNuN9');
  t.is(valid.ok ? '' : valid.code, 'KEY_MATERIAL_REJECTED');
});

test('8.1 accounts without a key may not be paid', (t) => {
  const code = (text: string) => {
    const parsed = parseAddress(xrp, text);
    return parsed.ok ? checkDestination(xrp, parsed, new Map())?.code : parsed.code;
  };
  t.deepEqual(
    ['rrrrrrrrrrrrrrrrrrrrrhoLvTp', 'rrrrrrrrrrrrrrrrrrrrBZbvji', 'rHsMGQEkVNJmpGWs8XUBoTBiAAbwxZN5v3'].map(code),
    ['INVALID_ADDRESS', 'INVALID_ADDRESS', undefined],
  );
});

test("R10 a token is CURRENCY:ISSUER in the ledger's own spelling", (t) => {
  const issuer = 'rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De';
  const hex = '524C555344000000000000000000000000000000';
  t.deepEqual(
    [`${hex}:${issuer}`, `RLUSD:${issuer}`, `USD:${issuer}`].map((text) => parseToken(xrp, text)),
    [`${hex}:${issuer}`, `${hex}:${issuer}`, `USD:${issuer}`],
  );
  for (const text of [
    'USD',
    `XRP:${issuer}`,
    `USD:${issuer}:x`,
    'USD:rBad',
    `:${issuer}`,
    `US:${issuer}`,
    'USD:XVMFQQBMhdouRqhPMuawgBMN1AVFTofPAdRsXG5RkPtUPNQ',
  ]) {
    t.like(parseToken(xrp, text), { code: 'TOKEN_NOT_SUPPORTED' }, text);
  }
});
