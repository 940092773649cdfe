import test from 'ava';
import fc from 'fast-check';
import { formerRegistryHash, registryText, shippedRegistry, type Registry } from '../../../chains/catalogue.ts';
import { isRegistrySigned } from '../../../chains/registry-signature.ts';
import { openTokenRegistry } from '../../../edge/link/token-registry.ts';
import { createEdgeLog } from '../../../edge/process/log.ts';
import type { RegistryFrame } from '../../../protocol/frames.ts';
import { newStorage } from '../../support/edge/disk.ts';
import { frameOfVersion, REGISTRY_KEYS, registryIn, STRANGER, versionOf } from '../../support/edge/registry.ts';

const NEW = '0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c';
/** A lawful next version: EURC on eth. */
const withEurc = (version: number, change: (copy: Registry) => void = () => undefined): Registry =>
  versionOf(version, (copy) => {
    const { deployments, ...usdc } = copy.tokens.find(({ symbol }) => symbol === 'USDC')!;
    const here = { ...deployments.find(({ chain }) => chain === 'eth')!, contract: NEW };
    copy.tokens.push({
      ...usdc,
      symbol: 'EURC',
      name: 'Euro Coin',
      deployments: [here],
      unsupportedChains: [
        ...usdc.unsupportedChains,
        ...deployments.filter(({ chain }) => chain !== 'eth').map(({ chain }) => ({ chain, reason: 'not listed' })),
      ],
    });
    change(copy);
  });
const problemOf = (storage: ReturnType<typeof newStorage>, shipped: Registry): string => {
  const opened = openTokenRegistry({ storage, keys: new Set(), log: createEdgeLog('silent'), shipped });
  return typeof opened === 'string' ? opened : '';
};

test('decisions 6: an older registry, or the same version with another content, is refused; a newer one is remembered', (t) => {
  const storage = newStorage(),
    named = (version: number) => versionOf(version, ({ tokens }) => (tokens[0]!.name = 'other'));
  t.is(problemOf(storage, versionOf(5)), '');
  t.is(problemOf(storage, versionOf(5)), '');
  t.regex(problemOf(storage, versionOf(4)), /version 4; its data directory has seen version 5/);
  t.regex(problemOf(storage, named(5)), /version 5 with other content/);
  t.is(problemOf(storage, named(6)), '');
  t.regex(problemOf(storage, versionOf(5)), /has seen version 6/);
});

test('treasury K6: the record of an edge of before is compared in its own form once, and rewritten', (t) => {
  const storage = newStorage();
  storage.setSetting('registry', `1 ${formerRegistryHash(shippedRegistry)}`);
  t.is(problemOf(storage, shippedRegistry), '');
  t.not(storage.setting('registry'), `1 ${formerRegistryHash(shippedRegistry)}`);
  t.is(problemOf(storage, shippedRegistry), '');
  storage.setSetting('registry', `1 ${'0'.repeat(64)}`);
  t.regex(problemOf(storage, shippedRegistry), /version 1 with other content/);
});

test('treasury K7, K14: a version that two keys signed is kept over a restart, and used at once', (t) => {
  const storage = newStorage(),
    registry = registryIn(storage);
  t.is(registry.catalogueOf('eth').get(NEW), undefined);
  t.is(registry.take(frameOfVersion(withEurc(2))), null);
  t.is(registry.current.version, 2);
  t.is(registry.catalogueOf('eth').get(NEW)?.symbol, 'EURC');
  t.is(registry.take(frameOfVersion(withEurc(2), [])), null, 'the kept one again needs no signature');
  t.is(registryIn(storage).catalogueOf('eth').get(NEW)?.decimals, 6);
  t.is(registryIn(storage, withEurc(3)).current.version, 3, 'a newer release has a newer one');
  t.regex(problemOf(storage, withEurc(2)), /has seen version 3/);
  const other = newStorage();
  registryIn(other).take(frameOfVersion(withEurc(2)));
  t.regex(problemOf(other, versionOf(3)), /does not fit .* keeps, version 2 \(registry_drops_a_token\)/);
  other.setSetting('registry_content', 'x');
  t.regex(problemOf(other, shippedRegistry), /cannot be read/);
});

test('treasury K8, K14: an older version, an altered one, one signature, one key twice or a lost token changes nothing', (t) => {
  const storage = newStorage(),
    registry = registryIn(storage);
  registry.take(frameOfVersion(withEurc(3)));
  const [first, second] = REGISTRY_KEYS;
  const lawful = withEurc(4);
  const changed = (change: (one: Registry['tokens'][number]['deployments'][number]) => void) =>
    withEurc(4, (copy) => change(copy.tokens.at(-1)!.deployments[0]!));
  const refused: readonly [RegistryFrame, string][] = [
    [frameOfVersion(lawful, [first!]), 'registry_not_signed'],
    [frameOfVersion(lawful, [first!, first!]), 'registry_not_signed'],
    [frameOfVersion(lawful, [first!, STRANGER]), 'registry_not_signed'],
    [{ ...frameOfVersion(lawful), signatures: frameOfVersion(withEurc(5)).signatures }, 'registry_not_signed'],
    [frameOfVersion(withEurc(2)), 'registry_older'],
    [frameOfVersion(withEurc(3, ({ tokens }) => (tokens[0]!.name = 'x'))), 'registry_changed_in_place'],
    [frameOfVersion(versionOf(4)), 'registry_drops_a_token'],
    [frameOfVersion(changed((one) => (one.decimals = 18))), 'registry_changes_decimals'],
    [frameOfVersion(changed((one) => (one.kind = 'bridged'))), 'registry_malformed'],
    [
      frameOfVersion(changed((one) => Object.assign(one, { kind: 'bridged', bridgeable: false }))),
      'registry_changes_a_token',
    ],
    [frameOfVersion(changed((one) => (one.sac = 'C'))), 'registry_changes_a_token'],
    [frameOfVersion(changed((one) => (one.tokenProgram = 'token'))), 'registry_changes_a_token'],
    [{ ...frameOfVersion(lawful), version: 5 }, 'registry_malformed'],
    [{ ...frameOfVersion(lawful), content: JSON.stringify(lawful, null, 1) }, 'registry_malformed'],
    [{ ...frameOfVersion(lawful), content: '{' }, 'registry_malformed'],
  ];
  for (const [frame, reason] of refused) {
    t.like(registry.take(frame), { code: 'SIGNED_BATCH_REJECTED', details: { reason } });
    t.is(registry.current.version, 3, reason);
    t.is(registryIn(storage).current.version, 3, reason);
  }
  const flags = changed((one) =>
    Object.assign(one, {
      monitored: false,
      deprecated: true,
      sweepable: false,
      bridgeable: false,
      hazards: ['blocklist'],
    }),
  );
  t.is(registry.take(frameOfVersion(flags, [second!, REGISTRY_KEYS[2]!])), null, 'what may change');
  t.is(registry.catalogueOf('eth').get(NEW), undefined);
});

test('treasury K7: no change of a signed version is signed, at any character', (t) => {
  const { signatures } = frameOfVersion(withEurc(2)),
    text = registryText(withEurc(2));
  const keys = new Set(REGISTRY_KEYS.map(({ publicKey }) => publicKey));
  t.true(isRegistrySigned(withEurc(2), signatures, keys));
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.integer({ min: 33, max: 126 }), (at, code) => {
      const altered = `${text.slice(0, at)}${String.fromCharCode(code)}${text.slice(at + 1)}`;
      if (altered === text) return;
      const registry = registryIn();
      t.not(registry.take({ version: 2, content: altered, signatures }), null);
      t.is(registry.current.version, 1);
    }),
    { numRuns: 60 },
  );
  for (const { signature, key } of signatures)
    for (const broken of [
      signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
      '',
      'zz',
      signature.slice(2),
    ])
      t.false(isRegistrySigned(withEurc(2), [{ key, signature: broken }, signatures[0]!], keys));
});
