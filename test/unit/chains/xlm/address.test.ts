import test from 'ava';
import fc from 'fast-check';
import { addressOf, checkDestination, parseAccount, parseAddress, parseToken } from '../../../../chains/xlm/address.ts';
import { depositPath, gasTankPath } from '../../../../chains/xlm/derive.ts';
import { stellar } from '../../../../chains/xlm/network.ts';
import { decodeStrkey, encodeStrkey, type StrkeyKind } from '../../../../chains/xlm/strkey.ts';
import { vector } from '../../../support/vectors.ts';

interface Vectors {
  valid: { name: string; strkey: string; type: string; id?: string; ed25519?: string; hex?: string }[];
  invalid: { strkey: string; reason: string }[];
}
const { valid, invalid } = vector<Vectors>('addresses/xlm-strkey.json');

test('9.1 SEP-0023 strkeys of the vectors decode to one text; the invalid ones do not', (t) => {
  for (const { strkey, hex } of valid) {
    const decoded = decodeStrkey(strkey);
    t.is(decoded === null ? null : encodeStrkey(decoded.kind, decoded.payload), strkey);
    if (hex !== undefined) t.is(Buffer.from(decoded!.payload).toString('hex'), hex);
  }
  for (const { strkey, reason } of invalid) {
    if (!reason.includes('secret seed')) t.is(decodeStrkey(strkey), null, reason);
  }
});

test('9.1 C8-65 a muxed account is its account and its id; contracts, pools and payloads are no accounts', (t) => {
  for (const { strkey, type, id, ed25519 } of valid) {
    const parsed = parseAddress(stellar, strkey);
    if (type === 'KEY_TYPE_ED25519') t.true(parsed.ok && parsed.canonical === strkey && parsed.tag === null);
    else if (type === 'KEY_TYPE_MUXED_ED25519')
      t.true(parsed.ok && parsed.canonical === ed25519 && parsed.tag === id, strkey);
    else t.false(parsed.ok);
    t.is(parseAccount(stellar, strkey).ok, type === 'KEY_TYPE_ED25519');
  }
});

test('9.1 2.2 a secret seed is key material, not a wrong address', (t) => {
  const seed = invalid.find(({ reason }) => reason.includes('secret seed'))!.strkey;
  const parsed = parseAddress(stellar, seed);
  t.is(parsed.ok ? '' : parsed.code, 'KEY_MATERIAL_REJECTED');
  t.false(JSON.stringify(parsed).includes(seed.slice(0, 10)));
});

test('G6 property: any payload → strkey → payload; a changed character is refused', (t) => {
  const sizes: Partial<Record<StrkeyKind, number>> = { account: 32, muxed: 40, contract: 32, pool: 32, hash_x: 32 };
  const strkeys = fc
    .constantFrom(...(Object.entries(sizes) as [StrkeyKind, number][]))
    .chain(([kind, size]) => fc.uint8Array({ minLength: size, maxLength: size }).map((payload) => ({ kind, payload })));
  t.notThrows(() =>
    fc.assert(
      fc.property(
        strkeys,
        fc.nat(200),
        fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'),
        ({ kind, payload }, at, letter) => {
          const text = encodeStrkey(kind, payload);
          const decoded = decodeStrkey(text);
          t.deepEqual([decoded?.kind, [...(decoded?.payload ?? [])]], [kind, [...payload]]);
          const place = at % text.length;
          fc.pre(text[place] !== letter);
          t.is(decodeStrkey(text.slice(0, place) + letter + text.slice(place + 1)), null);
        },
      ),
    ),
  );
});

test('9.1 the account without a key may not be paid; tokens are CODE:ISSUER', (t) => {
  const zero = parseAddress(stellar, addressOf(new Uint8Array(32)));
  t.is(zero.ok ? checkDestination(stellar, zero, new Map())?.code : '', 'INVALID_ADDRESS');
  const issuer = 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN';
  t.is(parseToken(stellar, `USDC:${issuer}`), `USDC:${issuer}`);
  for (const text of [
    'USDC',
    `:${issuer}`,
    `USDC:${issuer}:1`,
    'USDC:GBAD',
    `TOOLONGCODE13:${issuer}`,
    `US-DC:${issuer}`,
  ]) {
    t.like(parseToken(stellar, text), { code: 'TOKEN_NOT_SUPPORTED' }, text);
  }
});

test('9.1 the gas tank is no deposit address', (t) => {
  t.deepEqual([depositPath(0), depositPath(2), gasTankPath], ["m/44'/148'/0'", "m/44'/148'/2'", "m/44'/148'/0'/1'/0'"]);
});
