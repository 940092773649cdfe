/** Words of import files: formats, columns and what can be wrong with them. Spec §4.8. */
import { CHAINS, type Chain } from '../slugs.ts';

export const IMPORT_FORMATS = ['csv', 'json_lines', 'descriptors', 'key_value'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** Columns of a CSV file and names of a JSON line. */
export const IMPORT_FIELDS = ['address', 'chain', 'path', 'index', 'xpub', 'userRef', 'tag', 'label', 'memo'] as const;
export type ImportField = (typeof IMPORT_FIELDS)[number];

/** Keys of a block in the key-value format. */
export const KEYED_FIELDS = ['chain', 'xpub', 'path', 'range', 'branch', 'script', 'tag'] as const;
export type KeyedField = (typeof KEYED_FIELDS)[number];

/** What the reading of a file can find. */
export const PARSE_CODES = [
  'unclosed_quote',
  'IMPORT_TOO_LARGE',
  'json_array',
  'encoding',
  'line_too_long',
  'columns',
  'two_columns',
  'malformed_json',
  'malformed_descriptor',
  'descriptor_checksum',
  'unknown_column',
  'default_range',
] as const;
export type ParseCode = (typeof PARSE_CODES)[number];

/** Other names of the columns, folded as `foldedName` folds. */
const ALIASES: Readonly<Record<ImportField, readonly string[]>> = {
  address: [
    'address',
    'addr',
    'wallet',
    'walletaddress',
    'depositaddress',
    'publicaddress',
    'accountaddress',
    'receiveaddress',
  ],
  chain: ['chain', 'network', 'blockchain', 'coin', 'currency', 'protocol'],
  path: ['path', 'derivationpath', 'hdpath', 'keypath'],
  index: ['index', 'derivationindex', 'addressindex'],
  xpub: ['xpub', 'extendedpublickey'],
  userRef: [
    'userref',
    'userrefhash',
    'userid',
    'user',
    'customer',
    'customerid',
    'clientid',
    'externalid',
    'reference',
    'uid',
  ],
  tag: ['tag', 'purpose', 'group'],
  label: ['label', 'name', 'description', 'note'],
  memo: ['memo', 'destinationtag', 'dt', 'paymentid'],
};
const FIELD_OF: ReadonlyMap<string, ImportField> = new Map(
  IMPORT_FIELDS.flatMap((field) => ALIASES[field].map((name) => [name, field] as const)),
);

/** A name without case, blanks and `_ - .`. */
export const foldedName = (name: string): string => name.toLowerCase().replace(/[\s_.-]+/g, '');

/** The field that a column's name means; null for a name that none has. */
export const fieldOf = (name: string): ImportField | null => FIELD_OF.get(foldedName(name)) ?? null;

/** What rows and ranges can be besides: errors, and what they are warned of or passed over for. */
export const ROW_CODES = [
  'missing_address',
  'missing_chain',
  'INVALID_CHAIN',
  'chain_ambiguous',
  'bad_index',
  'bad_range',
  'user_ref_length',
  'user_ref_rounded',
  'INVALID_INPUT',
  'INVALID_ADDRESS',
  'shared_address_with_tag',
  'eip55_case',
  'x_address',
  'path_mismatch',
  'own_address',
  'untraced',
  'duplicate_differs',
  'duplicate',
  'already_in_account',
  'same_address_other_network',
  'user_ref_kept',
  'ADDRESS_CONFLICT',
  'dropped_by_review',
  'change_holds_money',
  'band_exceeded',
] as const;
export type RowCode = (typeof ROW_CODES)[number];

/** Other names of chains, folded; a name of several chains is `null`. */
const CHAIN_NAMES: Readonly<Record<string, Chain | null>> = {
  ...Object.fromEntries(CHAINS.map((chain) => [chain, chain])),
  bitcoin: 'btc',
  ethereum: 'eth',
  erc20: 'eth',
  bep20: 'bsc',
  bnb: 'bsc',
  matic: 'polygon',
  pol: 'polygon',
  avalanche: 'avax',
  trc20: 'tron',
  trx: 'tron',
  solana: 'sol',
  ripple: 'xrp',
  xrpl: 'xrp',
  stellar: 'xlm',
  usdt: null,
  usdc: null,
};

/** The chain that a text means; refused as `INVALID_CHAIN` or, of a token of several chains, `chain_ambiguous`. */
export function chainNamed(text: string): Chain | 'INVALID_CHAIN' | 'chain_ambiguous' {
  const name = foldedName(text);
  if (!Object.hasOwn(CHAIN_NAMES, name)) return 'INVALID_CHAIN';
  return CHAIN_NAMES[name] ?? 'chain_ambiguous';
}
