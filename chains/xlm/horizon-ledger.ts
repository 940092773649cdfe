/**
 * Ledgers of a Horizon server. Header, envelopes and results come as XDR and prove the ledger as an RPC server's do;
 * its own records are read for the two things that no hash covers there: asset movements of contract calls, and
 * effects. Source: developers.stellar.org, Horizon "Ledgers", "Transactions".
 */
import { TransactionEnvelope, TransactionResult, TransactionResultPair } from '@stellar/stellar-sdk/xdr';
import { ChainUnavailable, type Endpoint } from '../chain.ts';
import { countIn, hashIn, textIn, type Answer } from '../node-answer.ts';
import { assertWhole, headerNamed, type ProvenHeader } from './header.ts';
import { askHorizon, askHorizonList } from './horizon.ts';
import { ledgerRecords, transactionIn, type Applied } from './ledger-records.ts';
import { isSuccess } from './result-codes.ts';
import type { ProvenLedger } from './rpc-ledger.ts';
import { decodeXdr } from './xdr.ts';

interface HorizonHeader {
  readonly header: ProvenHeader;
  readonly record: Answer;
}

async function readRecord(endpoint: Endpoint, height: number): Promise<HorizonHeader | null> {
  const record = await askHorizon(endpoint, `/ledgers/${height}`);
  if (record === null) return null;
  const hash = hashIn(record['hash'], 'hash of a ledger'),
    parent = hashIn(record['prev_hash'], 'prev_hash');
  const header = headerNamed(record['header_xdr'], { height, hash });
  if (header.parentHash !== parent)
    throw new ChainUnavailable('xlm', `ledger ${height} names another parent than its header`);
  return { header, record };
}

/** The header of a height under its own hash; null for a 404, "not yet" above the newest. 9.4-3. */
export async function readHorizonHeader(endpoint: Endpoint, height: number): Promise<ProvenHeader | null> {
  return (await readRecord(endpoint, height))?.header ?? null;
}

/** The whole ledger. Throws: ChainUnavailable when it does not prove itself, MalformedReply. */
export async function readHorizonLedger(passphrase: string, endpoint: Endpoint, height: number): Promise<ProvenLedger> {
  const found = await readRecord(endpoint, height);
  if (found === null) throw new ChainUnavailable('xlm', `no ledger ${height}`);
  const { header, record } = found,
    path = `/ledgers/${height}`;
  const count =
    countIn(record['successful_transaction_count'], 'successful_transaction_count') +
    countIn(record['failed_transaction_count'], 'failed_transaction_count');
  const records = count === 0 ? [] : await askHorizonList(endpoint, `${path}/transactions?include_failed=true`, count);
  const applied = [...new Map(records.map((one) => [textIn(one['paging_token'], 'paging_token'), one])).values()].map(
    appliedOf,
  );
  assertWhole(
    header,
    applied.map(({ result }) => result),
  );
  const done = applied.filter(({ result }) => isSuccess(result.result));
  const [calls, effects] = await Promise.all([
    done.some(hasCall) ? askHorizonList(endpoint, `${path}/operations`) : [],
    done.length > 0 ? askHorizonList(endpoint, `${path}/effects`) : [],
  ]);
  const balanceChanges = new Map(
    calls.map((call) => [textIn(call['id'], 'id of an operation'), call['asset_balance_changes'] ?? []]),
  );
  return { header, raw: ledgerRecords(passphrase, header, applied, { balanceChanges, effects }) };
}

function appliedOf(record: Answer): Applied {
  const result = new TransactionResultPair({
    transactionHash: hashIn(record['hash'], 'hash of a transaction'),
    result: decodeXdr(TransactionResult, record['result_xdr'], 'result_xdr'),
  });
  return { envelope: decodeXdr(TransactionEnvelope, record['envelope_xdr'], 'envelope_xdr'), result, meta: null };
}

function hasCall({ envelope }: Applied): boolean {
  return transactionIn(envelope).operations.some(({ body }) => body.type === 'invokeHostFunction');
}
