import { readFileSync } from 'node:fs';
import test from 'ava';
import fc from 'fast-check';
import { getAddress } from 'ethers/address';
import { bytesOf, checkDestination, parseAddress, parseToken } from '../../../../chains/evm/address.ts';
import { deriveAddress } from '../../../../chains/evm/derive.ts';
import { eth, evmNetworks, polygon } from '../../../../chains/evm/network.ts';
import { catalogueOf } from '../../../../chains/catalogue.ts';
import type { ParsedAddress } from '../../../../chains/chain.ts';

const read = (path: string) => JSON.parse(readFileSync(new URL(`../../../vectors/${path}`, import.meta.url), 'utf8'));
const parsed = (text: string) => parseAddress(eth, text) as ParsedAddress;

test('EIP-55 every vector has its class: right checksum, one case, wrong checksum, malformed', (t) => {
  for (const { address, class: kind, checksummed } of read('addresses/evm-eip55.json').cases as Record<
    string,
    string
  >[]) {
    const result = parseAddress(eth, address!);
    if (kind === 'checksum_ok' || kind === 'single_case_no_checksum') {
      t.true(result.ok && result.canonical === checksummed, address);
    } else {
      t.like(result, { ok: false, code: 'INVALID_ADDRESS' }, address);
      if (kind === 'checksum_mismatch')
        t.like(result, { details: { reason: 'checksum', canonical: checksummed } }, address);
    }
  }
});

test('EIP-55 property: the text equals that of ethers, and bytes and text come back the same', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
        const hex = Buffer.from(bytes).toString('hex');
        const { canonical, bytes: decoded, kind, tag } = parsed(`0x${hex}`);
        t.is(canonical, getAddress(`0x${hex}`));
        t.deepEqual(Uint8Array.from(decoded), bytes);
        t.deepEqual(Uint8Array.from(bytesOf(canonical)), bytes);
        t.is(parsed(canonical).canonical, canonical);
        t.is(kind, 'eoa');
        t.is(tag, null);
      }),
    ),
  );
});

test('G6 property: one flipped letter case of a mixed-case address is refused', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), fc.nat(39), (bytes, at) => {
        const { canonical } = parsed(`0x${Buffer.from(bytes).toString('hex')}`);
        const letter = canonical[at + 2]!;
        const flipped = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
        const text = canonical.slice(0, at + 2) + flipped + canonical.slice(at + 3);
        const digits = text.slice(2);
        fc.pre(flipped !== letter && digits !== digits.toLowerCase() && digits !== digits.toUpperCase());
        t.like(parseAddress(eth, text), { ok: false, details: { reason: 'checksum' } });
      }),
    ),
  );
});

test("5.1 ICAN, ENS, other chains' addresses and near misses are no addresses", (t) => {
  for (const text of [
    '',
    '0x',
    'vitalik.eth',
    'XE7338O073KYGTWWZN0F2WZ0R8PX5ZPPZS',
    'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH',
    '0X9858effd232b4033e47d90003d41ec34ecaeda94',
    '9858effd232b4033e47d90003d41ec34ecaeda94',
    '0x9858effd232b4033e47d90003d41ec34ecaeda9',
    '0x9858effd232b4033e47d90003d41ec34ecaeda944',
    ' 0x9858effd232b4033e47d90003d41ec34ecaeda94',
    '0x9858effd232b4033e47d90003d41ec34ecaeda9g',
    `0x${'0'.repeat(10_000)}`,
  ])
    t.like(parseAddress(eth, text), { ok: false, code: 'INVALID_ADDRESS' }, text.slice(0, 60));
});

test('5.1 nothing is sent to the zero or burn address, precompiles, native log emitters or catalogue contracts', (t) => {
  const catalogue = catalogueOf('polygon');
  for (const hex of [
    '0',
    '1',
    '9',
    '11',
    '100',
    'dead',
    '1010',
    'f'.repeat(39) + 'e',
    '3c499c542cef5e3811e1192ce70d8cc03d5c3359',
  ]) {
    t.like(
      checkDestination(polygon, parsed(`0x${hex.padStart(40, '0')}`), catalogue),
      { code: 'INVALID_ADDRESS' },
      hex,
    );
  }
  for (const hex of ['12', 'dead1', '9858effd232b4033e47d90003d41ec34ecaeda94']) {
    t.is(checkDestination(polygon, parsed(`0x${hex.padStart(40, '0')}`), catalogue), null, hex);
  }
});

test('V8 a native log emitter is never a token contract', (t) => {
  t.like(parseToken(polygon, '0x0000000000000000000000000000000000001010'), { code: 'TOKEN_NOT_SUPPORTED' });
  t.like(parseToken(eth, '0xfffffffffffffffffffffffffffffffffffffffe'), { code: 'TOKEN_NOT_SUPPORTED' });
  t.like(parseToken(eth, 'USDT'), { code: 'TOKEN_NOT_SUPPORTED' });
  t.is(parseToken(eth, '0xdac17f958d2ee523a2206206994597c13d831ec7'), '0xdAC17F958D2ee523a2206206994597C13D831ec7');
});

test('5.1 V19 every published address is derived, the same on all five networks', (t) => {
  interface Account {
    xpub: string;
    addresses: { relativePath: string; path: string; address: string }[];
  }
  for (const { xpub, addresses } of read('derivation/evm-bip44-60.json').accounts as Account[]) {
    for (const { relativePath, path, address } of addresses) {
      const [change, index] = relativePath.split('/').map(Number);
      for (const network of evmNetworks)
        t.deepEqual(deriveAddress(network, xpub, change as 0 | 1, index!), { address, path });
    }
  }
});
