/** Rows for tests of the stores: valid by default, any field can be said otherwise. */
import { randomBytes } from 'node:crypto';
import { initialAccount } from '../../model/account/state.ts';
import type { AccountState, RowWrite } from '../../model/account/capabilities.ts';
import type { Plan } from '../../model/account/plan.ts';
import { createStores, type Stores } from '../../persistence/postgres/stores.ts';
import type { AccountAppend } from '../../persistence/postgres/batch.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import type { DepositRow, LedgerEntryRow } from '../../model/rows/deposit.ts';
import type { PublicationRow, WebhookRow } from '../../model/rows/webhook.ts';
import type { SeenTransfer } from '../../model/rows/inbox.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import type { BlockLink, BlockRecord, Cursor } from '../../model/ports/watch-store.ts';
import { accountIdOf, type AccountId } from '../../protocol/ids.ts';
import { addressKeyOf, eventId, newId, newUuid, SHARD_COUNT } from '../../protocol/node/ids.ts';
import type { Environment } from '../../protocol/slugs.ts';
import type { TestDatabase } from './postgres.ts';

/** An instant on whole milliseconds; nothing in these tests reads a clock. */
export const NOW_MS = Date.UTC(2026, 5, 1, 12);

export const PLAN: Plan = { tier: 'ultimate', band: 'launch', subscription: 'active', paymentsActive: true };

/** Stores of one node that owns every shard. */
export async function openStores(
  database: TestDatabase,
  node = 'node-a',
  more: { entriesMax?: number; inFlightMax?: number; onBatch?: (entries: number) => void; callersClock?: boolean } = {},
): Promise<Stores> {
  let epochs = new Map<number, number>();
  const stores = createStores({
    sql: database.sql,
    nowMs: () => NOW_MS,
    epochOf: (shard) => epochs.get(shard),
    initialAccount,
    callersClock: true,
    ...more,
  });
  epochs = await stores.ownership.claimShards(
    node,
    Array.from({ length: SHARD_COUNT }, (_, shard) => shard),
  );
  return stores;
}

export interface TestOrganization {
  organizationId: string;
  userId: string;
  live: AccountId;
  sandbox: AccountId;
}

/** An organization with two accounts, its owner, and an active key of each family in both accounts. */
export async function newOrganization({ identity, accounts }: Stores): Promise<TestOrganization> {
  const userId = newId('usr', NOW_MS),
    organizationId = newId('org', NOW_MS);
  await identity.insertUser({
    id: userId,
    email: `${userId}@example.com`,
    passwordHash: 'x',
    sealedTotpSecret: null,
    totpConfirmed: false,
    platformRole: null,
  });
  await identity.createOrganization({ id: organizationId, name: 'Test', createdAtMs: NOW_MS }, userId, PLAN);
  const [live, sandbox] = (['live', 'sandbox'] as const).map((environment) =>
    accountIdOf(organizationId, environment),
  ) as [AccountId, AccountId];
  for (const accountId of [live, sandbox]) {
    await write(
      { accounts } as Stores,
      accountId,
      (['evm', 'btc', 'tron', 'xrp'] as const).map((family) => ({
        table: 'account_keys',
        row: {
          family,
          xpub: `xpub-${family}-${accountId}`,
          accountPath: "m/44'/60'/0'",
          fingerprint: `${family}00`,
          status: 'active',
        },
        key: `${family}/${family}00`,
      })),
    );
  }
  return { organizationId, userId, live, sandbox };
}

/**
 * Loads an account and appends rows (and events) to it as its actor would. Throws: Error when they were not appended.
 */
export async function write(
  { accounts }: Pick<Stores, 'accounts'>,
  accountId: AccountId,
  rows: RowWrite[],
  events: AccountAppend['events'] = [],
): Promise<void> {
  const outcome = await accounts.append(await appendOf({ accounts }, accountId, rows, events));
  if (outcome.kind !== 'appended') throw new Error(`append of ${accountId}: ${JSON.stringify(outcome)}`);
}

/** An append on the account as it is now. */
export async function appendOf(
  { accounts }: Pick<Stores, 'accounts'>,
  accountId: AccountId,
  rows: RowWrite[],
  events: AccountAppend['events'] = [],
): Promise<AccountAppend> {
  const loaded = (await accounts.load(accountId))!;
  const state: AccountState = { ...loaded.state, version: loaded.version + events.length };
  return { entityId: accountId, ownerEpoch: loaded.ownerEpoch, expectedVersion: loaded.version, events, state, rows };
}

let serial = 0;
/** A number that no other row of this process has. */
export const nextSerial = (): number => (serial += 1);

export function addressRow(accountId: AccountId, more: Partial<AddressRow> = {}): AddressRow {
  const index = nextSerial();
  const bytes = randomBytes(20);
  return {
    id: newId('adr', NOW_MS + index),
    accountId,
    chain: 'eth',
    family: 'evm',
    address: `0x${bytes.toString('hex')}`,
    addressKey: addressKeyOf(accountId.endsWith('_live') ? 'live' : ('sandbox' as Environment), 'evm', bytes),
    derivationPath: `m/44'/60'/0'/0/${index}`,
    purpose: 'deposit',
    index,
    userRef: null,
    tag: null,
    label: null,
    status: 'active',
    createdAtMs: NOW_MS + index,
    ...more,
  };
}

/** An address as the fill of an import leaves it: a row and its claim, past the account's actor. */
export async function adopt(
  { owner }: Pick<TestDatabase, 'owner'>,
  accountId: AccountId,
  more: Partial<AddressRow> = {},
  until: 'committing' | 'committed' = 'committed',
): Promise<AddressRow> {
  const row = addressRow(accountId, { index: null, derivationPath: '[]', batchId: 'imp_test', ...more });
  // An open batch of a project that is cut over.
  await owner`
    insert into migration_project (account_id, id, name, state, created_at)
      values (${accountId}, 'mig_test', 'old', 'active', now()) on conflict do nothing`;
  await owner`
    insert into import_batch (account_id, id, project_id, created_at)
      values (${accountId}, ${row.batchId!}, 'mig_test', now()) on conflict do nothing`;
  for (const [from, to] of [
    ['created', 'validating'],
    ['validating', 'valid'],
    ['valid', 'committing'],
    ...(until === 'committed' ? [['committing', 'committed'] as const] : []),
  ] as const)
    await owner`
      update import_batch set state = ${to}, committed_at = now()
       where account_id = ${accountId} and id = ${row.batchId!} and state = ${from}`;
  await owner`
    with filled as (
      insert into address (account_id, id, environment, chain, family, address, address_key, derivation_path, purpose,
                           index, user_ref, tag, label, status, created_at, batch_id)
        values (${accountId}, ${row.id}, ${accountId.endsWith('_live') ? 'live' : 'sandbox'}, ${row.chain}, ${row.family},
                ${row.address}, ${row.addressKey}, ${row.derivationPath}, ${row.purpose}, ${row.index}, ${row.userRef},
                ${row.tag}, ${row.label}, ${row.status}, ${row.createdAtMs}::timestamptz, ${row.batchId!})
      returning address_key, account_id, id
    ) insert into address_registry select * from filled`;
  return row;
}

export function depositRow(address: AddressRow, more: Partial<DepositRow> = {}): DepositRow {
  const n = nextSerial();
  return {
    id: newId('dep', NOW_MS + n),
    accountId: address.accountId,
    ledger: address.accountId.endsWith('_live') ? 'eth' : `eth@${address.accountId}`,
    chain: 'eth',
    txid: `0x${randomBytes(32).toString('hex')}`,
    outputIndex: -1,
    addressId: address.id,
    address: address.address,
    amount: 10n ** 18n,
    decimals: 18,
    tokenContract: null,
    tokenSymbol: 'ETH',
    userRef: null,
    tag: null,
    chainTag: null,
    status: 'detected',
    incarnation: 1,
    announced: true,
    silence: null,
    height: 100,
    blockHash: '0xblock',
    threshold: 12,
    createdAtMs: NOW_MS + n,
    updatedAtMs: NOW_MS + n,
    ...more,
  };
}

/** A sandbox begun anew, as the gateway does it: the mark, steps until nothing is left, the end. */
export async function resetSandbox(stores: Pick<Stores, 'accounts' | 'sandbox'>, accountId: AccountId): Promise<void> {
  await write(stores, accountId, [{ table: 'sandbox_resets_begun', row: {}, key: '' }]);
  while (await stores.sandbox.resetStep(accountId, 1_000));
  await write(stores, accountId, [{ table: 'sandbox_reset' }]);
}

export function publicationRow(accountId: AccountId, more: Partial<PublicationRow> = {}): PublicationRow {
  return {
    eventId: eventId(accountId, nextSerial()),
    accountId,
    event: 'deposit_detected',
    body: '{"event":"deposit_detected"}',
    orderKey: '',
    toAll: false,
    createdAtMs: NOW_MS,
    ...more,
  };
}

export function entryRow(
  deposit: DepositRow,
  kind: LedgerEntryRow['kind'],
  told: string | null,
  more: Partial<LedgerEntryRow> = {},
): LedgerEntryRow {
  const amount = kind === 'reversal' ? -deposit.amount : deposit.amount;
  return {
    depositId: deposit.id,
    accountId: deposit.accountId,
    incarnation: deposit.incarnation,
    kind,
    amount,
    eventId: told,
    ...more,
  };
}

/** A deposit's row, entries and publications up to a status, as its actor would write them. */
export function depositWrites(
  address: AddressRow,
  status: DepositRow['status'],
  more: Partial<DepositRow> = {},
): { deposit: DepositRow; rows: RowWrite[] } {
  const deposit = depositRow(address, { ...more, status });
  const kinds =
    status === 'detected'
      ? (['detected'] as const)
      : status === 'confirmed'
        ? (['detected', 'credit'] as const)
        : (['detected', 'credit', 'reversal'] as const);
  const told = kinds.map(() => publicationRow(address.accountId, { orderKey: address.address }));
  return {
    deposit,
    rows: [
      { table: 'deposit', row: deposit },
      ...told.map((row): RowWrite => ({ table: 'publication', row })),
      ...kinds.map((kind, index): RowWrite => ({
        table: 'ledger_entry',
        row: entryRow(deposit, kind, told[index]!.eventId),
      })),
    ],
  };
}

export function webhookRow(accountId: AccountId, more: Partial<WebhookRow> = {}): WebhookRow {
  return {
    id: newUuid(NOW_MS + nextSerial()),
    accountId,
    url: 'https://example.com/hook',
    events: ['deposit_detected'],
    sealedSecrets: ['sealed'],
    secretPreview: 'whsec_ab…',
    status: 'enabled',
    createdAtMs: NOW_MS,
    updatedAtMs: NOW_MS,
    ...more,
  };
}

export function withdrawalRow(from: AddressRow, more: Partial<WithdrawalRow> = {}): WithdrawalRow {
  const n = nextSerial();
  return {
    id: newId('txn', NOW_MS + n),
    accountId: from.accountId,
    ledger: from.accountId.endsWith('_live') ? 'eth' : `eth@${from.accountId}`,
    chain: 'eth',
    from: from.address,
    to: '0x00000000000000000000000000000000000000aa',
    amount: 5n * 10n ** 17n,
    decimals: 18,
    tokenContract: null,
    tokenSymbol: 'ETH',
    userRef: null,
    tag: null,
    status: 'built',
    unsigned: {
      chain: 'eth',
      payload: '0x02',
      from: from.address,
      fromPath: from.derivationPath,
      to: '0x00000000000000000000000000000000000000aa',
      amount: 5n * 10n ** 17n,
      tokenContract: null,
      tag: null,
      kind: 'payment',
      sendAll: false,
      feeMax: 10n ** 15n,
      fee: { gas: 21_000 },
      replayKey: { kind: 'nonce', value: 0 },
      readAtHeight: 90,
    },
    versions: [],
    txid: null,
    height: null,
    blockHash: null,
    fee: null,
    failure: null,
    createdAtMs: NOW_MS + n,
    updatedAtMs: NOW_MS + n,
    ...more,
  };
}

export function transferTo(
  address: AddressRow,
  link: BlockLink,
  more: Partial<SeenTransfer> = {},
): BlockRecord['transfers'][number] {
  return {
    ledger: address.accountId.endsWith('_live') ? 'eth' : `eth@${address.accountId}`,
    chain: 'eth',
    txid: `0x${randomBytes(32).toString('hex')}`,
    outputIndex: -1,
    addressId: address.id,
    address: address.address,
    amount: '1000',
    decimals: 18,
    tokenContract: null,
    tokenSymbol: 'ETH',
    chainTag: null,
    from: ['0xsender'],
    activates: false,
    threshold: 12,
    height: link.height,
    blockHash: link.hash,
    confirmations: 1,
    accountId: address.accountId,
    addressKey: address.addressKey,
    ...more,
  };
}

/** Links of a branch: `height` from the parent up, hashes made of `branch` and the height. */
export function linksAfter(parent: Cursor, count: number, branch: string): BlockLink[] {
  const links: BlockLink[] = [];
  let before = parent;
  for (let step = 1; step <= count; step += 1) {
    const height = parent.height + step;
    const link: BlockLink = {
      height,
      hash: `${branch}${height}`,
      parentHash: before.hash,
      parentHeight: before.height,
      timeMs: NOW_MS + height,
    };
    links.push(link);
    before = link;
  }
  return links;
}

export function recordOf(
  link: BlockLink,
  transfers: BlockRecord['transfers'] = [],
  more: Partial<BlockRecord> = {},
): BlockRecord {
  return {
    link,
    previous: { height: link.parentHeight, hash: link.parentHash },
    transfers,
    withdrawals: [],
    unresolved: null,
    ...more,
  };
}
