/**
 * The four formats of an export: what each says of a row, what it loses, and which rows it has no words for.
 * Migration M-E2, M-E3.
 */
import { lentPathOf } from '../../../actors/edge-link/retired-identities.ts';
import { sourcesOf } from '../../../actors/key-source/decide.ts';
import { Branches, type KeyedRow } from '../../../actors/migration/formats/branches.ts';
import { sheetLine, jsonLine } from '../../../protocol/sheet.ts';
import type { ScriptType } from '../../../chains/btc/derive.ts';
import { parseAddress } from '../../../chains/reading.ts';
import type { AccountState } from '../../../model/account/capabilities.ts';
import type { AdoptedRow } from '../../../model/ports/import-store.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import type { ExportFormat, INEXPRESSIBLE_REASONS, LostField } from '../../../protocol/migration/words.ts';
import { FAMILY_OF, type Family } from '../../../protocol/slugs.ts';

/** Names that the importer knows, in both formats that say everything of a row. */
export const EXPORT_COLUMNS = ['address', 'chain', 'derivation_path', 'user_ref', 'tag', 'label'] as const;
type Exported = Pick<AdoptedRow, 'address' | 'chain' | 'derivationPath' | 'userRef' | 'tag' | 'label'>;
type Keys = Pick<AccountState, 'enrolment' | 'retired' | 'keySources'>;

/** Why a format has no words for a row. */
export interface Inexpressible {
  readonly reason: (typeof INEXPRESSIBLE_REASONS)[number];
}

export interface Sheet {
  readonly head: string;
  /** Its text; '' where it is part of what follows all rows. */
  row(row: Exported): string | Inexpressible;
  /** What of the row is not in the file. */
  loses(row: Exported): readonly LostField[];
  /** What follows all rows. */
  rest(): Iterable<string>;
}

interface Format {
  readonly file: string;
  readonly type: string;
  /** Whether the file has whole extended keys. */
  readonly showsKeys: boolean;
  open(keys: Keys): Sheet;
}

const allOf = (head: string, row: (row: Exported) => string): Sheet => ({
  head,
  row,
  loses: () => [],
  rest: () => [],
});

export const SHEETS: Readonly<Record<ExportFormat, Format>> = {
  CSV: {
    file: 'export.csv',
    type: 'text/csv',
    showsKeys: false,
    open: () =>
      allOf(`${sheetLine(EXPORT_COLUMNS)}\n`, (row) => `${sheetLine(cellsOf(row).map((cell) => cell ?? ''))}\n`),
  },
  JSONL: {
    file: 'export.jsonl',
    type: 'application/x-ndjson',
    showsKeys: false,
    open: () =>
      allOf('', (row) => {
        const cells = cellsOf(row);
        return `${jsonLine(Object.fromEntries(EXPORT_COLUMNS.map((name, at) => [name, cells[at]])))}\n`;
      }),
  },
  DESCRIPTORS: {
    file: 'export-descriptors.txt',
    type: 'text/plain',
    showsKeys: true,
    open: (keys) =>
      ofBranches(keys, {
        without: () => null,
        isOfChain: (chain) => chain === 'btc',
        tagOf: () => null,
        loses: (row) => ['derivation_path', ...namesOf(row)],
        rest: (branches) => branches.descriptors(),
      }),
  },
  KEY_VALUE: {
    file: 'export-keys.txt',
    type: 'text/plain',
    showsKeys: true,
    open: (keys) =>
      ofBranches(keys, {
        without: ({ branch, script }) =>
          branch !== '0' && branch !== '1'
            ? { reason: 'branch' }
            : script !== null && script !== 'p2wpkh'
              ? { reason: 'script' }
              : null,
        isOfChain: () => true,
        tagOf: ({ tag }) => (isOneLine(tag) ? tag : null),
        loses: (row) => namesOf(row).filter((name) => name !== 'tag' || !isOneLine(row.tag)),
        rest: (branches) => branches.keyValues(),
      }),
  },
};

interface OfBranches extends Pick<Sheet, 'loses'> {
  isOfChain(chain: Exported['chain']): boolean;
  /** What it has no words for below a key. */
  without(keyed: Omit<KeyedRow, 'tag'>): Inexpressible | null;
  tagOf(row: Exported): string | null;
  rest(branches: Branches): Iterable<string>;
}

/** A sheet of ranges below keys: nothing is written before the last row is read. */
function ofBranches(keys: Keys, { isOfChain, without, tagOf, loses, rest }: OfBranches): Sheet {
  const branches = new Branches();
  return {
    head: '',
    row: (row) => {
      if (!isOfChain(row.chain)) return { reason: 'chain' };
      const keyed = keyedOf(keys, row);
      if ('reason' in keyed) return keyed;
      const no = without(keyed);
      if (no !== null) return no;
      branches.add({ ...keyed, tag: tagOf(row) });
      return '';
    },
    loses,
    rest: () => rest(branches),
  };
}

const namesOf = ({ userRef, tag, label }: Exported): LostField[] => [
  ...(userRef === null ? [] : (['user_ref'] as const)),
  ...(tag === null ? [] : (['tag'] as const)),
  ...(label === null ? [] : (['label'] as const)),
];

/** Whether a value of a block reads back as it is: white space around it goes, and a line ends it. */
const isOneLine = (text: string | null): boolean => text !== null && text.trim() === text && !/[\r\n]/.test(text);

/** The extended key above an address, and the way from it. */
function keyedOf(keys: Keys, row: Exported): Omit<KeyedRow, 'tag'> | Inexpressible {
  const { chain } = row,
    family = FAMILY_OF[chain];
  const key = keyAbove(keys, family, lentPathOf(keys, chain, row.derivationPath));
  if ('reason' in key) return key;
  const steps = key.below.split('/');
  const branch = steps.slice(0, -1).join('/');
  const script = chain === 'btc' ? scriptTypeOf(row.address) : null;
  if (script === undefined) return { reason: 'script' };
  return { chain, xpub: key.xpub, path: key.path, branch, index: Number(steps.at(-1)), script };
}

/** The script of an address that one key has; undefined for another's. */
function scriptTypeOf(address: string): ScriptType | undefined {
  const parsed = parseAddress('btc', address);
  return isRefusal(parsed) ? undefined : SCRIPT_TYPE_OF[parsed.kind];
}

const SCRIPT_TYPE_OF: Readonly<Record<string, ScriptType>> = {
  p2pkh: 'p2pkh',
  p2sh: 'p2sh-p2wpkh',
  p2wpkh: 'p2wpkh',
  p2tr: 'p2tr',
};

type Above = { readonly xpub: string; readonly path: string; readonly below: string };

/** `path` as callers see it: `m/…` below the present identity, `[fingerprint/…]` below a source, `[]` below nothing. */
function keyAbove(keys: Keys, family: Family, path: string): Above | Inexpressible {
  const own = keys.enrolment?.keys[family];
  if (path.startsWith('m/'))
    return own !== undefined && path.startsWith(`${own.accountPath}/`)
      ? { xpub: own.xpub, path: own.accountPath, below: path.slice(own.accountPath.length + 1) }
      : { reason: 'untraced' };
  const [, fingerprint, steps] = /^\[([0-9a-f]{16})((?:\/[0-9]+'?)*)\]$/.exec(path) ?? [];
  if (fingerprint === undefined) return { reason: 'untraced' };
  if (steps === '') return { reason: 'single_key' };
  const source = Object.values(sourcesOf(keys)).find((one) => one.fingerprint === fingerprint);
  if (source === undefined) return { reason: 'retired_identity' };
  const key = source.keys
    .filter((one) => one.family === family && one.xpub !== null && `m${steps}`.startsWith(`${one.path}/`))
    .toSorted((a, b) => b.path!.length - a.path!.length)[0];
  const below = key === undefined ? "'" : `m${steps}`.slice(key.path!.length + 1);
  return key === undefined || below.includes("'")
    ? { reason: 'untraced' }
    : { xpub: key.xpub!, path: key.path!, below };
}

function cellsOf({ address, chain, derivationPath, userRef, tag, label }: Exported): (string | null)[] {
  return [address, chain, claimOf(derivationPath), userRef, tag, label];
}

/** The path as a file claims it; whose key it is below, an import finds again. Null where nobody has derived it. */
function claimOf(derivationPath: string): string | null {
  const [, steps] = /^\[[0-9a-f]{16}((?:\/[0-9]+'?)*)\]$/.exec(derivationPath) ?? [];
  if (steps !== undefined) return steps === '' ? null : `m${steps}`;
  return derivationPath === '[]' ? null : derivationPath;
}
