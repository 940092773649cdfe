/** Words of import files: formats, columns and what can be wrong with them. Spec §4.8. */

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
