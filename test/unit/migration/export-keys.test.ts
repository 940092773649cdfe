import test from 'ava';
import fc from 'fast-check';
import { Judge, type JudgedRow } from '../../../actors/migration/imports/judge.ts';
import { createImportReader } from '../../../actors/migration/formats/reader.ts';
import { endLine } from '../../../protocol/sheet.ts';
import { addressOfKey, SCRIPT_TYPES } from '../../../chains/btc/derive.ts';
import { bitcoin } from '../../../chains/btc/network.ts';
import { factsOf, networkOf } from '../../../chains/registry.ts';
import { derivePublicKey } from '../../../chains/secp256k1.ts';
import { TokensInForce } from '../../../chains/tokens.ts';
import { SHEETS } from '../../../gateway/http/migration/export-sheets.ts';
import type { Chain } from '../../../protocol/slugs.ts';

const { catalogueOf } = new TokensInForce();
/** An account key, and its source that pushed it for two families. */
const XPUB =
  'xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V';
const FINGERPRINT = '0123456789abcdef',
  ACCOUNT_PATH = "m/84'/0'/0'";
const keyOf = (family: 'btc' | 'evm') => ({ family, path: ACCOUNT_PATH, xpub: XPUB, publicKey: null });
const source = {
  id: 'src_1',
  fingerprint: FINGERPRINT,
  label: 'old',
  kind: 'phrase' as const,
  keystore: 'file' as const,
  chains: ['btc' as const, 'eth' as const],
  keys: [keyOf('btc'), keyOf('evm')],
  addresses: 0,
  registeredAtMs: 0,
  purgedAtMs: null,
};
const KEYS = { enrolment: null, retired: [], keySources: { src_1: source } };
const OWN = {
  enrolment: { publicKey: 'ab', keys: { btc: { xpub: XPUB, accountPath: ACCOUNT_PATH, fingerprint: FINGERPRINT } } },
  retired: [],
  keySources: {},
};

interface At {
  readonly chain: Chain;
  readonly branch: 0 | 1;
  readonly index: number;
  readonly tag: string | null;
}
const rowAt = ({ chain, branch, index, tag }: At) => {
  const { derivation } = factsOf(chain);
  if (derivation.kind !== 'xpub') throw new Error('no chain of extended keys');
  const { address } = derivation.deriveAddress(networkOf(chain), XPUB, branch, index);
  const derivationPath = `[${FINGERPRINT}${ACCOUNT_PATH.slice(1)}/${branch}/${index}]`;
  return { address, chain, derivationPath, userRef: 'u', tag, label: null };
};
const keyOfRow = ({ chain, address, tag }: Pick<JudgedRow, 'chain' | 'address' | 'tag'>) =>
  `${chain} ${address} ${tag}`;

/** What an account that has the same source adopts from a file. */
function adopted(text: string): JudgedRow[] {
  const reader = createImportReader(),
    judge = new Judge({ environment: 'live', chain: null, own: {}, sources: [source], catalogueOf });
  const judged = [...reader.push(Buffer.from(text)), ...reader.end()].flatMap((found) => {
    if (found.kind === 'fault') throw new Error(found.message);
    return [...judge.judge(found)];
  });
  return judged.flatMap((one) => {
    if (one.kind === 'row') return [one];
    if (one.severity === 'error') throw new Error(`${one.code} ${one.message}`);
    return [];
  });
}

function written(format: 'DESCRIPTORS' | 'KEY_VALUE', rows: readonly ReturnType<typeof rowAt>[]): string {
  const sheet = SHEETS[format].open(KEYS);
  for (const row of rows) if (sheet.row(row) !== '') throw new Error('not expressible');
  return `${sheet.head}${[...sheet.rest()].join('')}${endLine(rows.length)}\n`;
}

const at = (chains: readonly Chain[], tags: readonly (string | null)[]) =>
  fc.uniqueArray(
    fc.record({
      chain: fc.constantFrom(...chains),
      branch: fc.constantFrom(0 as const, 1 as const),
      index: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constantFrom(1_000_000, 2 ** 31 - 1)),
      tag: fc.constantFrom(...tags),
    }),
    { minLength: 1, maxLength: 30, selector: ({ chain, branch, index }) => `${chain} ${branch} ${index}` },
  );

test('migration M-E2: key-value blocks are read again as the addresses, paths and tags that they were made of', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(at(['btc', 'eth', 'base'], [null, 'vip', 'a: b # c']), (list) => {
        const rows = list.map(rowAt),
          back = adopted(written('KEY_VALUE', rows));
        t.deepEqual(back.map(keyOfRow).toSorted(), rows.map(keyOfRow).toSorted());
        const pathOf = new Map<string, string>(rows.map((row) => [`${row.chain} ${row.address}`, row.derivationPath]));
        for (const row of back) t.is(row.derivationPath, pathOf.get(`${row.chain} ${row.address}`)!);
      }),
      { numRuns: 60 },
    ),
  );
});

test('migration M-E2: descriptors are read again as the addresses that they were made of, of every script', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(at(['btc'], [null]), fc.array(fc.constantFrom(...SCRIPT_TYPES)), (list, scripts) => {
        const rows = list.map((one, n) => {
          const script = scripts[n] ?? 'p2wpkh';
          const address = addressOfKey(bitcoin.prefixes, derivePublicKey(XPUB, one.branch, one.index), script);
          return { ...rowAt(one), address };
        });
        const back = adopted(written('DESCRIPTORS', rows));
        t.deepEqual(back.map(({ address }) => address).toSorted(), rows.map(({ address }) => address).toSorted());
      }),
      { numRuns: 60 },
    ),
  );
});

test('migration M-E2: indexes in a row are one range, however their rows come', (t) => {
  const indexes = [5, 0, 2, 1, 9, 8];
  const rows = indexes.map((index) => rowAt({ chain: 'eth', branch: 0, index, tag: null }));
  const block = (range: string) => `chain: eth\nxpub: ${XPUB}\npath: ${ACCOUNT_PATH}\nrange: ${range}\nbranch: 0\n\n`;
  t.is(written('KEY_VALUE', rows), `${['0-2', '5-5', '8-9'].map(block).join('')}# end, 6 rows\n`);
});

test('migration M-E2: a row that a format has no words for says why, and what is lost is named', (t) => {
  const row = rowAt({ chain: 'btc', branch: 0, index: 3, tag: ' padded' });
  const reasons = (derivationPath: string, more: Partial<typeof row> = {}, keys: object = KEYS) =>
    (['DESCRIPTORS', 'KEY_VALUE'] as const).map((format) => {
      const said = SHEETS[format].open(keys as typeof KEYS).row({ ...row, derivationPath, ...more });
      return typeof said === 'string' ? said : said.reason;
    });
  t.deepEqual(reasons('[]'), ['untraced', 'untraced']);
  t.deepEqual(reasons(`[${FINGERPRINT}]`), ['single_key', 'single_key']);
  t.deepEqual(reasons('[ffffffffffffffff/0/1]'), ['retired_identity', 'retired_identity']);
  t.deepEqual(reasons(`[${FINGERPRINT}/44'/0'/0'/0/1]`), ['untraced', 'untraced'], 'below no key that it pushed');
  t.deepEqual(
    reasons(`[${FINGERPRINT}/84'/0'/0'/0'/1]`),
    ['untraced', 'untraced'],
    'a hardened step has no public way',
  );
  t.deepEqual(reasons(`[${FINGERPRINT}/84'/0'/0'/7]`), ['', 'branch']);
  t.deepEqual(reasons(`[${FINGERPRINT}/84'/0'/0'/44/0/7/0/1]`), ['', 'branch'], 'a vault');
  t.deepEqual(reasons(row.derivationPath, { chain: 'eth' }), ['chain', '']);
  const wrapped = addressOfKey(bitcoin.prefixes, derivePublicKey(XPUB, 0, 3), 'p2sh-p2wpkh');
  t.deepEqual(reasons(row.derivationPath, { address: wrapped }), ['', 'script']);
  const several = 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3';
  t.deepEqual(reasons(row.derivationPath, { address: several }), ['script', 'script'], 'a script of several keys');
  t.deepEqual(reasons("m/84'/0'/0'/0/3", {}, OWN), ['', '']);
  t.deepEqual(reasons("m/84'/0'/0'/0/3", {}), ['untraced', 'untraced'], 'no identity is enrolled');
  const retired = [{ fingerprint: 'ab'.repeat(8), atMs: 1, next: { btc: 4 } }];
  t.deepEqual(reasons("m/84'/0'/0'/0/3", {}, { ...OWN, retired }), ['retired_identity', 'retired_identity']);
  t.deepEqual(reasons("m/84'/0'/0'/0/4", {}, { ...OWN, retired }), ['', '']);

  const loses = (format: keyof typeof SHEETS, more: Partial<typeof row> = {}) =>
    SHEETS[format].open(KEYS).loses({ ...row, ...more });
  t.deepEqual(loses('CSV'), []);
  t.deepEqual(loses('DESCRIPTORS'), ['derivation_path', 'user_ref', 'tag']);
  t.deepEqual(loses('KEY_VALUE'), ['user_ref', 'tag'], 'white space around it goes');
  t.deepEqual(loses('KEY_VALUE', { tag: 'vip' }), ['user_ref']);
});
