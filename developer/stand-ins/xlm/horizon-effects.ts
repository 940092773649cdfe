/**
 * Effects and accounts as Horizon shows them. Effects are derived from the operations, as Horizon derives them, and not
 * from changed entries, so that a client that derives them from the entries meets another opinion.
 */
import type { Operation, OperationResult } from '@stellar/stellar-sdk/xdr';
import { FLAGS, type AccountRow } from './entries.ts';
import { assetFields, canonical, link, operationRecords, timeText, toid, type Json } from './horizon-records.ts';
import type { ClosedLedger, StellarLedger } from './ledger.ts';
import { unitsOf } from './people.ts';
import type { State } from './state.ts';
import type { Executed } from './transactions.ts';

/** Effects of the operations of a transaction that was done. */
export function effectRecords(
  { state }: StellarLedger,
  closed: ClosedLedger,
  executed: Executed,
  order: number,
): Json[] {
  if (!executed.success) return [];
  const records = operationRecords(closed, executed, order);
  return executed.read.operations.flatMap((operation, index) => {
    const id = toid(closed.height, order, index + 1);
    return effectsOf(state, operation, records[index]!, executed.results[index]).map(
      ({ type, account, ...fields }, ordinal) => ({
        _links: { operation: link(`/operations/${id}`) },
        id: `${id.toString().padStart(19, '0')}-${String(ordinal + 1).padStart(10, '0')}`,
        paging_token: `${id}-${ordinal + 1}`,
        account,
        type,
        created_at: timeText(closed.closeTime),
        ...fields,
      }),
    );
  });
}

function moved(
  type: 'account_credited' | 'account_debited',
  account: unknown,
  asset: string | null,
  amount: unknown,
): Json {
  return { type, account, ...assetFields(asset), amount };
}

const assetIn = (record: Json): string | null =>
  record['asset_type'] === 'native' ? null : `${String(record['asset_code'])}:${String(record['asset_issuer'])}`;

function effectsOf(state: State, { body }: Operation, record: Json, outcome: OperationResult | undefined): Json[] {
  const { from, to, amount, source_account: source } = record;
  switch (body.type) {
    case 'payment':
      return [
        moved('account_credited', to, assetIn(record), amount),
        moved('account_debited', from, assetIn(record), amount),
      ];
    case 'createAccount':
      return [
        { type: 'account_created', account: record['account'], starting_balance: record['starting_balance'] },
        moved('account_debited', record['funder'], null, record['starting_balance']),
        { type: 'signer_created', account: record['account'], weight: 1, public_key: record['account'], key: '' },
      ];
    case 'accountMerge': {
      const result =
        outcome?.type === 'opInner' && outcome.tr.type === 'accountMerge' ? outcome.tr.accountMergeResult : null;
      const all = unitsOf(result?.type === 'accountMergeSuccess' ? result.sourceAccountBalance : 0n);
      return [
        moved('account_debited', record['account'], null, all),
        moved('account_credited', record['into'], null, all),
        { type: 'account_removed', account: record['account'] },
      ];
    }
    case 'pathPaymentStrictSend':
    case 'pathPaymentStrictReceive': {
      const sold = {
        asset_type: record['source_asset_type'],
        asset_code: record['source_asset_code'],
        asset_issuer: record['source_asset_issuer'],
      };
      return [
        moved('account_credited', to, assetIn(record), amount),
        moved('account_debited', from, assetIn(sold), record['source_amount']),
        { type: 'trade', account: from, offer_id: '1' },
      ];
    }
    case 'claimClaimableBalance': {
      const row = state.claimableOf(String(record['balance_id']));
      if (row === null) return [];
      const claimed = { asset: canonical(row.asset), balance_id: record['balance_id'], amount: unitsOf(row.amount) };
      return [
        { type: 'claimable_balance_claimed', account: source, ...claimed },
        moved('account_credited', source, row.asset, claimed.amount),
      ];
    }
    case 'manageSellOffer':
      return [{ type: 'trade', account: source, offer_id: '1' }];
    case 'invokeHostFunction':
      return ((record['asset_balance_changes'] as Json[] | null) ?? []).flatMap((change) => [
        ...(String(change['to']).startsWith('G')
          ? [moved('account_credited', change['to'], assetIn(change), change['amount'])]
          : []),
        ...(String(change['from']).startsWith('G')
          ? [moved('account_debited', change['from'], assetIn(change), change['amount'])]
          : []),
      ]);
    case 'changeTrust':
      return [{ type: 'trustline_created', account: source, ...assetFields(assetIn(record)), limit: record['limit'] }];
    default:
      return [];
  }
}

export function accountRecord(state: State, account: AccountRow): Json {
  const lines = state.rows().flatMap((row) => (row.kind === 'line' && row.account === account.id ? [row] : []));
  const data = state.rows().flatMap((row) => (row.kind === 'data' && row.account === account.id ? [row] : []));
  const height = state.heightOf(`account ${account.id}`),
    flag = (bit: number) => (account.flags & bit) !== 0;
  return {
    _links: { self: link(`/accounts/${account.id}`) },
    id: account.id,
    account_id: account.id,
    sequence: account.sequence.toString(),
    subentry_count: account.subentries,
    last_modified_ledger: height,
    thresholds: { low_threshold: 0, med_threshold: 0, high_threshold: 0 },
    flags: {
      auth_required: flag(FLAGS.authRequired),
      auth_revocable: flag(FLAGS.authRevocable),
      auth_immutable: flag(FLAGS.authImmutable),
      auth_clawback_enabled: flag(FLAGS.clawback),
    },
    balances: [
      ...lines.map((line) => ({
        balance: unitsOf(line.balance),
        limit: unitsOf(line.limit),
        buying_liabilities: '0.0000000',
        selling_liabilities: '0.0000000',
        last_modified_ledger: state.heightOf(`line ${line.account} ${line.asset}`),
        is_authorized: (line.flags & 1) !== 0,
        is_authorized_to_maintain_liabilities: (line.flags & 3) !== 0,
        ...assetFields(line.asset),
      })),
      {
        balance: unitsOf(account.balance),
        buying_liabilities: '0.0000000',
        selling_liabilities: '0.0000000',
        asset_type: 'native',
      },
    ],
    signers: [{ weight: 1, key: account.id, type: 'ed25519_public_key' }],
    data: Object.fromEntries(data.map(({ name, value }) => [name, Buffer.from(value).toString('base64')])),
    num_sponsoring: account.sponsoring,
    num_sponsored: account.sponsored,
    paging_token: account.id,
  };
}
