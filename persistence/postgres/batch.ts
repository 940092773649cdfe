/**
 * The batch that `append_accounts` takes: one array of snake_case rows per table. An entry is encoded when it is handed
 * in, so that a value that cannot be written (a bigint where JSON is stored) rejects that entry and no other.
 */
import type { AccountEvent, AccountSnapshot, AccountState, RowWrite } from '../../model/account/commands.ts';
import type { Append } from '../../model/entity.ts';
import { environmentOf, type AccountId } from '../../protocol/ids.ts';
import { newId } from '../../protocol/node/ids.ts';

export type AccountAppend = Append<AccountState, AccountEvent, RowWrite>;

/** Table of the batch → JSON texts of its rows. */
export type EncodedEntry = ReadonlyMap<string, readonly string[]>;

const instant = (ms: number) => new Date(ms).toISOString();
const decimal = (amount: bigint | null) => amount?.toString() ?? null;
/** For the few columns whose TypeScript value holds amounts inside (an unsigned payload). */
const withDecimals = (_key: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value);

type Row = Readonly<Record<string, unknown>>;

interface Encoded {
  table: string;
  row: Row;
  /** Of several rows with one identity the last one stands; null where each is a row of its own. */
  identity: string | null;
}

const encoded = (table: string, row: Row, identity: string | null = null): Encoded => ({ table, row, identity });

function encodeRow(accountId: string, write: RowWrite, nowMs: number): Encoded[] {
  switch (write.table) {
    case 'address':
      return [encoded('addresses', { ...addressRow(accountId, write.row), ...pairOf(write) })];
    case 'address_status':
      return [
        encoded('address_statuses', {
          id: write.id,
          status: write.status,
          ...(write.alone === undefined ? {} : { alone: write.alone }),
        }),
      ];
    case 'identity':
      return [encoded('identities', { public_key: write.publicKey }, '')];
    case 'pool_address': {
      const { chain, index, address, path, addressKey } = write.row;
      return [encoded('pool_addresses', { chain, index, address, path, address_key: addressKey }, `${chain}/${index}`)];
    }
    case 'account_key': {
      const { family, xpub, accountPath, fingerprint, status } = write.row;
      return [
        encoded(
          'account_keys',
          { family, xpub, account_path: accountPath, fingerprint, status },
          `${family}/${fingerprint}`,
        ),
      ];
    }
    case 'deposit':
      return [encoded('deposits', depositRow(write.row), write.row.id)];
    case 'ledger_entry': {
      const { depositId, incarnation, kind, amount, eventId } = write.row;
      return [
        encoded('ledger_entries', {
          deposit_id: depositId,
          incarnation,
          kind,
          amount: decimal(amount),
          event_id: eventId,
        }),
      ];
    }
    case 'withdrawal':
      return [encoded('withdrawals', withdrawalRow(write.row), write.row.id)];
    case 'withdrawal_status': {
      const { id, status, updatedAtMs } = write;
      return [encoded('withdrawal_statuses', { id, status, updated_at: instant(updatedAtMs) }, id)];
    }
    case 'webhook':
      return [encoded('webhooks', webhookRow(write.row), write.row.id)];
    case 'publication': {
      const { eventId, event, body, orderKey, toAll, createdAtMs } = write.row;
      return [
        encoded('publications', {
          event_id: eventId,
          event,
          body,
          order_key: orderKey,
          to_all: toAll,
          created_at: instant(createdAtMs),
          delivery_id: newId('dlv', nowMs),
        }),
      ];
    }
    case 'replay':
      return [
        encoded('replays', {
          delivery_id: write.deliveryId,
          new_delivery_id: write.newDeliveryId,
          now: instant(write.nowMs),
        }),
      ];
    case 'inbox_taken':
      return write.ids.map((id) => encoded('inbox_taken', { id }, id));
    case 'idempotency': {
      const { key, method, path, bodyHash, status, body } = write.row;
      return [
        encoded('idempotency', {
          key,
          method,
          path,
          body_hash: bodyHash,
          status,
          body: JSON.stringify(body, withDecimals) ?? 'null',
        }),
      ];
    }
    case 'billable':
      return [encoded('billables', { withdrawal_id: write.withdrawalId, kind: write.kind, period: write.period })];
    case 'address_peak':
      return [encoded('address_peaks', { day: write.day, active: write.active }, write.day)];
    case 'sandbox_reset':
      return [encoded('sandbox_resets', {}, '')];
  }
}

function addressRow(accountId: string, row: Extract<RowWrite, { table: 'address' }>['row']): Row {
  return {
    id: row.id,
    environment: environmentOf(accountId as AccountId),
    chain: row.chain,
    family: row.family,
    address: row.address,
    address_key: row.addressKey,
    derivation_path: row.derivationPath,
    purpose: row.purpose,
    index: row.index,
    user_ref: row.userRef,
    tag: row.tag,
    label: row.label,
    status: row.status,
    created_at: instant(row.createdAtMs),
  };
}

function pairOf({ paired, pairsFrom }: Extract<RowWrite, { table: 'address' }>): Row {
  return { ...(paired === undefined ? {} : { paired }), ...(pairsFrom === undefined ? {} : { pairs_from: pairsFrom }) };
}

function depositRow(row: Extract<RowWrite, { table: 'deposit' }>['row']): Row {
  return {
    id: row.id,
    ledger: row.ledger,
    chain: row.chain,
    txid: row.txid,
    output_index: row.outputIndex,
    address_id: row.addressId,
    address: row.address,
    amount: decimal(row.amount),
    decimals: row.decimals,
    token_contract: row.tokenContract,
    token_symbol: row.tokenSymbol,
    user_ref: row.userRef,
    tag: row.tag,
    chain_tag: row.chainTag,
    status: row.status,
    incarnation: row.incarnation,
    announced: row.announced,
    height: row.height,
    block_hash: row.blockHash,
    threshold: row.threshold,
    created_at: instant(row.createdAtMs),
    updated_at: instant(row.updatedAtMs),
  };
}

function withdrawalRow(row: Extract<RowWrite, { table: 'withdrawal' }>['row']): Row {
  return {
    id: row.id,
    ledger: row.ledger,
    chain: row.chain,
    from_address: row.from,
    to_address: row.to,
    amount: decimal(row.amount),
    decimals: row.decimals,
    token_contract: row.tokenContract,
    token_symbol: row.tokenSymbol,
    user_ref: row.userRef,
    tag: row.tag,
    status: row.status,
    unsigned: JSON.parse(JSON.stringify(row.unsigned, withDecimals)),
    versions: row.versions,
    txid: row.txid,
    height: row.height,
    block_hash: row.blockHash,
    fee: decimal(row.fee),
    failure: row.failure,
    created_at: instant(row.createdAtMs),
    updated_at: instant(row.updatedAtMs),
  };
}

function webhookRow(row: Extract<RowWrite, { table: 'webhook' }>['row']): Row {
  return {
    id: row.id,
    url: row.url,
    events: row.events,
    sealed_secrets: row.sealedSecrets,
    secret_preview: row.secretPreview,
    status: row.status,
    created_at: instant(row.createdAtMs),
    updated_at: instant(row.updatedAtMs),
  };
}

/** What is stored of a state with each append: without what is on its way, which grows with use and is in the rows. */
function snapshotOf({ counters: _, withdrawals: __, reopened: ___, ...kept }: AccountState): AccountSnapshot {
  return kept;
}

/**
 * Encodes one append. Null when it holds one idempotency key twice: its commands must run apart.
 * Throws: TypeError for a value that JSON cannot hold, RangeError for an instant that is none.
 */
export function encodeEntry(entry: AccountAppend, nowMs: number): EncodedEntry | null {
  const tables = new Map<string, Map<string, Row>>();
  const add = ({ table, row, identity }: Encoded) => {
    let rows = tables.get(table);
    if (rows === undefined) tables.set(table, (rows = new Map()));
    rows.set(identity ?? `#${rows.size}`, row);
  };
  const { events, rows } = entry;
  add(
    encoded('accounts', {
      owner_epoch: entry.ownerEpoch,
      version: entry.expectedVersion,
      events: events.length,
      state: snapshotOf(entry.state),
    }),
  );
  events.forEach((body, index) => add(encoded('events', { version: entry.expectedVersion + index + 1, body })));
  const keys = rows.flatMap((write) =>
    write.table === 'idempotency' ? [`${write.row.method} ${write.row.path} ${write.row.key}`] : [],
  );
  if (new Set(keys).size < keys.length) return null;
  for (const write of rows) {
    // A whole row says more than the change of status before it, and takes in the one after it.
    if (write.table === 'withdrawal') tables.get('withdrawal_statuses')?.delete(write.row.id);
    for (const one of encodeRow(entry.entityId, write, nowMs)) add(one);
  }
  const texts = new Map<string, string[]>();
  for (const [table, byIdentity] of tables) {
    if (byIdentity.size === 0) continue;
    texts.set(
      table,
      Array.from(byIdentity.values(), (row) => JSON.stringify({ account_id: entry.entityId, ...row })),
    );
  }
  return texts;
}

/** One JSON text for the entries of a group, in their order. */
export function joinEntries(entries: readonly EncodedEntry[]): string {
  const tables = new Map<string, string[]>();
  for (const entry of entries) {
    for (const [table, rows] of entry) {
      const all = tables.get(table);
      if (all === undefined) tables.set(table, [...rows]);
      else all.push(...rows);
    }
  }
  return `{${[...tables].map(([table, rows]) => `"${table}":[${rows.join(',')}]`).join(',')}}`;
}
