/**
 * What was issued to whom: a path of the edge's own phrase belongs to one (userRef, tag) for ever. The cloud chooses
 * the path; without this record it could give one address to two customers, call it somebody else's later, or take an
 * index that no recovery would ever look at. Decisions 6.
 *
 * One row for a path, one for each network that has it: the five EVM networks share a customer's path (spec 1.6). A
 * look and a write cost the same at ten million rows. What a loss of power takes back is the last record, and no money
 * with it.
 */
import { createHash } from 'node:crypto';
import { FAMILY_OF, type Chain } from '../../protocol/slugs.ts';
import { damaged } from '../storage/record-forms.ts';
import { openDatabase, type Storage } from '../storage/storage.ts';

const VERSIONS: readonly string[] = [
  `
  -- An identity may be rotated: its paths are another phrase's.
  create table owners (id integer primary key, name text not null unique) strict;
  create table issued (
    owner integer not null references owners (id),
    family text not null,
    position integer not null,
    -- First 60 bits of SHA-256 of the address.
    address_hash integer not null,
    user_ref text,
    tag text,
    primary key (owner, family, position)
  ) strict, without rowid;
  create index issued_address on issued (address_hash);
  create table issued_rows (
    owner integer not null,
    family text not null,
    position integer not null,
    chain text not null,
    address_id text not null,
    primary key (owner, family, position, chain),
    foreign key (owner, family, position) references issued (owner, family, position)
  ) strict, without rowid;
`,
  `
  create index issued_id on issued_rows (address_id);
`,
];
const FILE_NAME = 'issued.db';
/** Largest index of a path. Source: BIP-32. */
const INDEX_MAX = 0x7fff_ffff;

/** Whose an address is. */
export interface Holder {
  readonly userRef: string | null;
  readonly tag: string | null;
}

export interface Issue extends Holder {
  readonly chain: Chain;
  /** Number of the deposit path. */
  readonly position: number;
  readonly address: string;
  /** The cloud's `adr_…`. */
  readonly addressId: string;
}

/** Why an address that this edge derives is not handed on: its record says otherwise, or does not reach so far. */
export const ISSUE_PROBLEMS = ['issued_to_another', 'issued_before', 'index_beyond_gap', 'id_of_another'] as const;
export type IssueProblem = (typeof ISSUE_PROBLEMS)[number];

export interface IssuedAddresses {
  /** Records an issue, or says why it cannot be one; the same issue again is one. */
  record(issue: Issue): Promise<IssueProblem | null>;
  /**
   * Whom an address was issued to here, under this identity or one of before: a rotation makes nobody's address another
   * one's. Null when it is not known.
   */
  holderOf(chain: Chain, address: string): Promise<Holder | null>;
  /** Null, or that the id was issued here with another address (`id_of_another`), or the address with another id. */
  misnamed(named: Pick<Issue, 'chain' | 'address' | 'addressId'>): Promise<'id_of_another' | 'issued_before' | null>;
  close(): Promise<void>;
}

/** First 60 bits: a key of an index, and the address is compared by its deriver. */
export function addressHashOf(address: string): bigint {
  return createHash('sha256').update(address).digest().readBigUInt64BE(0) >> 4n;
}

export interface IssuedSettings {
  /** Data directory of the edge, or the directory that the replicas of one machine share. */
  readonly directory: string;
  /** Environment and public key of the identity, parted by a space. */
  readonly owner: string;
  /** EDGE_ADDRESS_GAP. */
  readonly gap: number;
}

/** The record in a directory. Throws: StorageFailed. */
export function openIssuedAddresses({ directory, owner: ownerName, gap }: IssuedSettings): IssuedAddresses {
  const environment = ownerName.slice(0, ownerName.indexOf(' ') + 1);
  const storage = openDatabase(directory, FILE_NAME, VERSIONS, { synchronous: 'normal', whole: false });
  storage.run('insert into owners (name) values (?) on conflict do nothing', ownerName);
  const { id: owner } = storage.one<{ id: number }>('select id from owners where name = ?', ownerName)!;
  return {
    record: async (issue) => storage.transaction(() => recordIn(storage, owner, gap, issue)),
    holderOf: async (chain, address) => {
      const row = storage.one<{ user_ref: string | null; tag: string | null }>(
        `select i.user_ref, i.tag from issued i cross join owners o on o.id = i.owner
    where i.address_hash = ? and i.family = ? and substr(o.name, 1, length(?)) = ?`,
        addressHashOf(address),
        FAMILY_OF[chain],
        environment,
        environment,
      );
      return row === null ? null : { userRef: row.user_ref, tag: row.tag };
    },
    misnamed: async (named) => {
      if (isIdOfAnother(storage, owner, named)) return 'id_of_another';
      return (idOf(storage, owner, named) ?? named.addressId) === named.addressId ? null : 'issued_before';
    },
    close: async () => storage.close(),
  };
}

/** The id that an address was issued with on its network; null when it is not known. */
function idOf(storage: Storage, owner: number, { chain, address }: Pick<Issue, 'chain' | 'address'>): string | null {
  return (
    storage.one<{ id: string }>(
      `select r.address_id as id from issued i join issued_rows r using (owner, family, position)
    where i.address_hash = ? and i.owner = ? and i.family = ? and r.chain = ?`,
      addressHashOf(address),
      owner,
      FAMILY_OF[chain],
      chain,
    )?.id ?? null
  );
}

function isIdOfAnother(
  storage: Storage,
  owner: number,
  { chain, address, addressId }: Pick<Issue, 'chain' | 'address' | 'addressId'>,
): boolean {
  return (
    storage.one(
      `select 1 from issued_rows r join issued i using (owner, family, position)
    where r.address_id = ? and r.owner = ? and (r.chain <> ? or i.address_hash <> ?)`,
      addressId,
      owner,
      chain,
      addressHashOf(address),
    ) !== null
  );
}

function recordIn(storage: Storage, owner: number, gap: number, issue: Issue): IssueProblem | null {
  const { chain, position, address, addressId, userRef, tag } = issue,
    family = FAMILY_OF[chain];
  const known = storage.one<{ user_ref: string | null; tag: string | null }>(
    'select user_ref, tag from issued where owner = ? and family = ? and position = ?',
    owner,
    family,
    position,
  );
  if (known !== null && (known.user_ref !== userRef || known.tag !== tag)) return 'issued_to_another';
  const row = storage.one<{ address_id: string }>(
    'select address_id from issued_rows where owner = ? and family = ? and position = ? and chain = ?',
    owner,
    family,
    position,
    chain,
  );
  if (row !== null) return row.address_id === addressId ? null : 'issued_before';
  if (isIdOfAnother(storage, owner, issue)) return 'id_of_another';
  if (known === null) {
    const { highest } = storage.one<{ highest: number | null }>(
      'select max(position) as highest from issued where owner = ? and family = ?',
      owner,
      family,
    )!;
    if (highest !== null && !(highest >= 0 && highest <= INDEX_MAX)) throw damaged('issued.position');
    if (position > (highest ?? -1) + gap) return 'index_beyond_gap';
    storage.run(
      'insert into issued (owner, family, position, address_hash, user_ref, tag) values (?, ?, ?, ?, ?, ?)',
      owner,
      family,
      position,
      addressHashOf(address),
      userRef,
      tag,
    );
  }
  storage.run(
    'insert into issued_rows (owner, family, position, chain, address_id) values (?, ?, ?, ?, ?)',
    owner,
    family,
    position,
    chain,
    addressId,
  );
  return null;
}
