/** Rows as the server answers them (columns in camelCase, see sql.ts) turned into the row types. */
import type { Unsigned } from '../../chains/chain.ts';
import type { AccountId, LedgerId } from '../../protocol/ids.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import type { DepositRow } from '../../model/rows/deposit.ts';
import type { WebhookRow } from '../../model/rows/webhook.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';

/** A column set of the server; each function below names what it takes. */
export type Columns = Readonly<Record<string, unknown>>;

const modeOf = (state: unknown): 'observe' | 'active' => (state === 'active' ? 'active' : 'observe');

export function addressOf(row: Columns): AddressRow {
  return {
    id: row.id,
    accountId: row.accountId,
    chain: row.chain,
    family: row.family,
    address: row.address,
    addressKey: row.addressKey,
    derivationPath: row.origin ?? row.derivationPath,
    purpose: row.purpose,
    index: row.index,
    userRef: row.userRef,
    tag: row.tag,
    label: row.label,
    status: row.status,
    createdAtMs: row.createdAt,
    ...(row.batchId === null ? {} : { batchId: row.batchId }),
    ...(row.projectId == null ? {} : { project: { id: row.projectId, mode: modeOf(row.projectState) } }),
  } as AddressRow;
}

export function depositOf(row: Columns): DepositRow {
  return {
    id: row.id,
    accountId: row.accountId,
    ledger: row.ledger,
    chain: row.chain,
    txid: row.txid,
    outputIndex: row.outputIndex,
    addressId: row.addressId,
    address: row.address,
    amount: row.amount,
    decimals: row.decimals,
    tokenContract: row.tokenContract,
    tokenSymbol: row.tokenSymbol,
    userRef: row.userRef,
    tag: row.tag,
    chainTag: row.chainTag,
    status: row.status,
    incarnation: row.incarnation,
    announced: row.announced,
    silence: row.silence,
    height: row.height,
    blockHash: row.blockHash,
    threshold: row.threshold,
    createdAtMs: row.createdAt,
    updatedAtMs: row.updatedAt,
  } as DepositRow;
}

/** Amounts inside the stored payload are decimal text. */
function unsignedOf(stored: Omit<Unsigned, 'amount' | 'feeMax'> & { amount: string; feeMax: string }): Unsigned {
  return { ...stored, amount: BigInt(stored.amount), feeMax: BigInt(stored.feeMax) };
}

export function withdrawalOf(row: Columns): WithdrawalRow {
  return {
    id: row.id,
    ...(row['kind'] === 'sweep' ? { kind: 'sweep' } : {}),
    ...(row['role'] == null ? {} : { role: row['role'], operationId: row['operationId'] }),
    accountId: row.accountId as AccountId,
    ledger: row.ledger as LedgerId,
    chain: row.chain,
    from: row.fromAddress,
    to: row.toAddress,
    amount: row.amount,
    decimals: row.decimals,
    tokenContract: row.tokenContract,
    tokenSymbol: row.tokenSymbol,
    userRef: row.userRef,
    tag: row.tag,
    status: row.status,
    unsigned: unsignedOf(row.unsigned as Parameters<typeof unsignedOf>[0]),
    versions: row.versions,
    txid: row.txid,
    height: row.height,
    blockHash: row.blockHash,
    fee: row.fee,
    failure: row.failure,
    createdAtMs: row.createdAt,
    updatedAtMs: row.updatedAt,
  } as WithdrawalRow;
}

export function webhookOf(row: Columns): WebhookRow {
  return {
    id: row.id,
    accountId: row.accountId,
    url: row.url,
    events: row.events,
    sealedSecrets: row.sealedSecrets,
    secretPreview: row.secretPreview,
    status: row.status,
    createdAtMs: row.createdAt,
    updatedAtMs: row.updatedAt,
  } as WebhookRow;
}
