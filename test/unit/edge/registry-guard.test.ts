import test from 'ava';
import { shippedRegistry, type Registry } from '../../../chains/catalogue.ts';
import { guardRegistry } from '../../../edge/link/registry-guard.ts';
import { newStorage } from '../../support/edge/disk.ts';

const at = (version: number, more: Partial<Registry['tokens'][number]> = {}): Registry => ({
  version,
  tokens: shippedRegistry.tokens.map((token, index) => (index === 0 ? { ...token, ...more } : token)),
});

test('decisions 6: an older registry, or the same version with another content, is refused; a newer one is remembered', (t) => {
  const storage = newStorage();
  t.is(guardRegistry(storage, at(5)), null);
  t.is(guardRegistry(storage, at(5)), null);
  t.regex(guardRegistry(storage, at(4)) ?? '', /version 4; its data directory has seen version 5/);
  t.regex(guardRegistry(storage, at(5, { name: 'other' })) ?? '', /version 5 with other content/);
  t.is(guardRegistry(storage, at(6, { name: 'other' })), null);
  t.regex(guardRegistry(storage, at(5)) ?? '', /has seen version 6/);
});
