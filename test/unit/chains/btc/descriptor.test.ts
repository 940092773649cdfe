import test from 'ava';
import fc from 'fast-check';
import { addressesOf, parseDescriptor, type Descriptor } from '../../../../chains/btc/descriptor.ts';
import { descriptorChecksum } from '../../../../chains/btc/descriptor-checksum.ts';
import { parseDescriptorKey } from '../../../../chains/btc/descriptor-key.ts';
import { bitcoin } from '../../../../chains/btc/network.ts';
import { Refused } from '../../../../protocol/errors.ts';
import { vector } from '../../../support/vectors.ts';

interface BipVectors {
  checksum: { name: string; value: string }[];
  keyExpressions: { name: string; value: string; valid: boolean }[];
  descriptors: {
    bip: string;
    valid: boolean;
    descriptor: string;
    scripts?: string[];
    expandsTo?: string[];
    containsPrivateKey: boolean;
    reason?: string;
  }[];
}
const bips = vector<BipVectors>('descriptors/bip380-389.json');

interface AccountVectors {
  descriptors: {
    descriptor: string;
    checksum: string;
    multipath?: boolean;
    addresses: { index: number; branch?: number; address: string }[];
  }[];
  invalid: { descriptor: string; reason: string }[];
}
const accounts = vector<AccountVectors>('descriptors/account-descriptors.json');

const sealed = (body: string) => `${body}#${descriptorChecksum(body)}`;
const parse = (text: string) => parseDescriptor(bitcoin, text);

function parsed(text: string): Descriptor {
  const result = parse(text);
  if (!result.ok) throw new Error(String(result.details['reason']));
  return result;
}

test('BIP-380 the checksum is required and held to', (t) => {
  for (const { name, value } of bips.checksum) t.is(parse(value).ok, name === 'Valid checksum', name);
  for (const { descriptor, checksum } of accounts.descriptors)
    t.is(descriptorChecksum(descriptor.split('#')[0]!), checksum);
});

test('BIP-380 property: a changed character never keeps the checksum', (t) => {
  const body = accounts.descriptors[0]!.descriptor.split('#')[0]!;
  const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789()[]/*'";
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.nat(body.length - 1), fc.nat(letters.length - 1), (at, letter) => {
        fc.pre(body[at] !== letters[letter]);
        const changed = body.slice(0, at) + letters[letter] + body.slice(at + 1);
        t.not(descriptorChecksum(changed), descriptorChecksum(body));
      }),
    ),
  );
});

test('BIP-380 key expressions: valid, invalid, and private ones refused without being repeated', (t) => {
  for (const { name, value, valid } of bips.keyExpressions) {
    const hasPrivateKey = /prv|^L4/.test(value);
    const hasHardenedStep = /xpub[^/]*\/.*['h]/.test(value);
    if (valid && !hasPrivateKey && !hasHardenedStep) {
      t.notThrows(() => parseDescriptorKey(value), name);
      continue;
    }
    const error = t.throws(() => parseDescriptorKey(value), { instanceOf: Refused }, name);
    t.false(JSON.stringify(error!.refusal).includes(value.slice(0, 20)), name);
  }
});

for (const [
  at,
  { bip, valid, descriptor, scripts, expandsTo, containsPrivateKey, reason },
] of bips.descriptors.entries()) {
  const title = `${descriptor.replace(/[0-9a-zA-Z]{20,}/g, 'KEY').slice(0, 60)} (${at})`;
  if (!valid || containsPrivateKey) {
    test(`BIP-${bip} refused: ${reason ?? 'private key'}: ${title}`, (t) => {
      const result = parse(sealed(descriptor));
      t.false(result.ok);
      if (containsPrivateKey && !result.ok) t.is(result.details['reason'], 'holds a private key');
    });
    continue;
  }
  test(`BIP-${bip} ${title}`, (t) => {
    const result = parsed(sealed(descriptor));
    const hex = (from: Descriptor, branch: number, index: number) =>
      from.scriptsAt(branch, index).map((script) => Buffer.from(script).toString('hex'));
    if (scripts !== undefined) {
      const found = (result.ranged ? [0, 1, 2] : [0]).flatMap((index) => hex(result, 0, index));
      t.deepEqual(found, scripts);
    }
    t.is(result.branches, expandsTo?.length ?? 1);
    for (const [branch, single] of (expandsTo ?? []).entries()) {
      t.deepEqual(hex(result, branch, 5), hex(parsed(sealed(single)), 0, 5));
    }
  });
}

test('BIP-381 to 389 account descriptors give the addresses of two other libraries', (t) => {
  for (const { descriptor, addresses, multipath } of accounts.descriptors) {
    const result = parsed(descriptor);
    t.true(result.ranged);
    t.is(result.branches, multipath === true ? 2 : 1);
    const count = 1 + Math.max(...addresses.map(({ index }) => index));
    const all = addressesOf(bitcoin, result, 0, count);
    t.is(all.length, result.branches * count);
    for (const { index, branch = 0, address } of addresses) t.is(all[branch * count + index], address, descriptor);
  }
});

test('BIP-380 descriptors to refuse', (t) => {
  for (const { descriptor, reason } of accounts.invalid) t.false(parse(descriptor).ok, reason);
});

test('BIP-383 BIP-386 limits and places', (t) => {
  const key = (n: number) => `0${2 + (n % 2)}${bips.keyExpressions[0]!.value.slice(2)}`;
  const keys = (count: number) => Array.from({ length: count }, (_, n) => key(n)).join(',');
  const refused = [
    `multi(1,${keys(4)})`,
    `sh(multi(1,${keys(16)}))`,
    `wsh(multi(1,${keys(21)}))`,
    `multi(0,${keys(2)})`,
    `multi(01,${keys(2)})`,
    'pkh()',
    'pkh',
    '',
    `pkh(${key(0)})x`,
    `pkh(${key(0)}`,
    `tr(${key(0)},{pk(${key(0)})})`,
    `tr(${key(0)},multi(1,${keys(1)}))`,
    `pkh(${key(0).slice(2)})`,
    `wsh(tr(${key(0)}))`,
    `older(5)`,
    ` pkh(${key(0)})`,
    'addr(bc1qbad)',
    'raw()',
    `pkh(ypub6XKNfkykvtzVBuUaVZUGBsHkyw63XRUGf1hv3fLgqhRGdyaTPMAdKBXgBzEVKE15nNrGCGnzKxMSYhsfTgEUbkmMYFKwFFTYQG3hKsa6Vmi/0)`,
  ];
  for (const body of refused) t.false(parse(sealed(body)).ok, body);
  for (const body of [
    `multi(1,${keys(3)})`,
    `sh(multi(2,${keys(15)}))`,
    `wsh(sortedmulti(17,${keys(20)}))`,
    `tr(${key(0)},{pk(${key(1)}),pk(${key(0)})})`,
  ]) {
    t.true(parse(sealed(body)).ok, body);
  }
  t.false(parse(`pkh(${'a'.repeat(30_000)})#aaaaaaaa`).ok);
});
