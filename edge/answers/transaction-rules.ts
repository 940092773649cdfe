/**
 * Answers about transactions: of a withdrawal that was asked for here every word is the edge's own to compare, what was
 * signed with it. G28: a txid is computed here and never taken over.
 */
import { networkOf } from '../../chains/registry.ts';
import { isId } from '../../protocol/ids.ts';
import { formatAmount } from '../../protocol/money.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { DEPOSIT_STATUSES, WITHDRAWAL_STATUSES, type Chain } from '../../protocol/slugs.ts';
import type { RecordedInstruction } from '../signing/instructions.ts';
import type { Signature } from '../signing/signature-journal.ts';
import { falseMoney, firstFalse, isCanonical, isCount, isExplorerUrl, type Ask, type Known } from './known.ts';

type TransactionJson = ReplyOf<'getTransaction'>;
type BuiltJson = ReplyOf<'buildTransaction'>;

export async function falseTransaction(row: TransactionJson, ask: Ask, known: Known): Promise<string | null> {
  const { id, direction, kind, role, operationId, status, environment, chain, txid, explorerUrl, fee, address } = row;
  const statuses: readonly string[] = direction === 'in' ? DEPOSIT_STATUSES : WITHDRAWAL_STATUSES;
  const wrong =
    firstFalse(
      [
        'id',
        isId(direction === 'in' ? 'dep' : 'txn', id) && (ask.params['id'] === undefined || ask.params['id'] === id),
      ],
      ['environment', environment === known.environment],
      ['status', statuses.includes(status)],
      ['kind', (kind === null) === (direction === 'in')],
      ['role', role === null || kind === 'sweep'],
      ['operationId', (operationId === null) === (role === null)],
      ['fee', fee === null || isCount(fee)],
    ) ??
    falseMoney(row, row, known.catalogueOf(chain)) ??
    firstFalse(['explorerUrl', isExplorerUrl(known.environment, chain, txid, explorerUrl)]);
  if (wrong !== null) return wrong;
  if (!isCanonical(chain, address)) return 'address'; // in other letters nobody would know whose it is
  if (direction === 'out')
    return (
      falseWithdrawal(row, known) ??
      firstFalse(['kind', kind === 'withdrawal' || known.instructions.get(id) === null]) ??
      firstFalse(['versions', row.versions.every(({ txid }) => falseWithdrawal({ ...row, txid }, known) !== 'txid')])
    );
  const holder = await known.issued.holderOf(chain, address);
  return holder === null
    ? null
    : firstFalse(
        ['userRef: issued_to_another', holder.userRef === row.userRef],
        ['tag: issued_to_another', holder.tag === row.tag],
      );
}

/** What is said of a withdrawal, in an answer or in an event. */
export type WithdrawalWords = Pick<
  TransactionJson,
  'id' | 'chain' | 'address' | 'counterparty' | 'tokenContract' | 'chainTag' | 'amount' | 'txid' | 'height'
>;

/** Name of the first word that is not what this edge was asked for and signed; null also where it knows nothing. */
export function falseWithdrawal(row: WithdrawalWords, { instructions }: Pick<Known, 'instructions'>): string | null {
  const recorded = instructions.get(row.id);
  if (recorded === null) return null;
  const {
    instruction: { chain, from, to, tag, token },
  } = recorded;
  const signed = instructions.mayBeSignedElsewhere(row.id) ? [] : instructions.signaturesOf(row.id);
  return firstFalse(
    ['chain', row.chain === chain],
    ['address', row.address === from],
    ['counterparty', row.counterparty === to || row.counterparty === null],
    ['tokenContract', row.tokenContract === (token?.contract ?? null)],
    ['chainTag', row.chainTag === tag],
    ['amount', isAmountOf(recorded, row, instructions)],
    ['txid', isTxidOf(signed, row.txid)],
  );
}

/**
 * A send-all pays what the version of its txid pays; one that is in no block may be reported with the amount of the
 * build that is to replace it. A version that another replica signed pays what one of all builds pays. Of a record of
 * before, whose versions are not all known: one that was signed here pays what the newest pays and at most its fee
 * more, one that another replica built less.
 */
function isAmountOf(
  { instruction, unsigned }: RecordedInstruction,
  { id, txid, height, amount }: WithdrawalWords,
  instructions: Known['instructions'],
): boolean {
  const found = BigInt(amount);
  if (instruction.amount !== 'all') return found === unsigned.amount;
  const own = txid === null ? null : instructions.amountOfSigned(id, txid);
  if (own !== null) return found === own || (height === null && found === unsigned.amount);
  const amounts = instructions.amountsOf(id);
  if (amounts !== null) return amounts.includes(found);
  if (instruction.token !== null) return found === unsigned.amount;
  const isSignedHere = instructions.signaturesOf(id).some(({ signed }) => signed !== null && signed.txid === txid);
  return isSignedHere
    ? found >= unsigned.amount && found <= unsigned.amount + unsigned.feeMax
    : found <= unsigned.amount;
}

/**
 * One of those that were computed here; a withdrawal of which another replica signed a version has one that is not
 * known here.
 */
function isTxidOf(signatures: readonly Signature[], txid: string | null): boolean {
  const own = signatures.flatMap(({ signed }) => (signed === null ? [] : [signed.txid]));
  return txid === null || own.length === 0 || own.includes(txid);
}

/**
 * A withdrawal as this edge knows it, in the place of an answer that was not handed on: signed bytes exist, so that an
 * error would sound as if they did not. Null for one that was asked for elsewhere.
 */
export function ownTransaction(
  id: string,
  { instructions, environment }: Known,
  nowMs: number,
): TransactionJson | null {
  const recorded = instructions.get(id);
  if (recorded === null) return null;
  const {
      instruction: { chain, from, to, token, tag },
      unsigned,
    } = recorded,
    network = networkOf(chain);
  const at = new Date(nowMs).toISOString();
  const decimals = token?.decimals ?? network.nativeDecimals;
  return {
    amount: unsigned.amount.toString(),
    amountFormatted: formatAmount(unsigned.amount, decimals),
    decimals,
    id,
    direction: 'out',
    kind: 'withdrawal',
    role: null,
    operationId: null,
    chain,
    environment,
    status: 'signing',
    ...signedFacts(id, chain, { instructions, environment }),
    outputIndex: null,
    address: from,
    counterparty: to,
    tokenContract: token?.contract ?? null,
    tokenSymbol: token?.symbol ?? network.nativeSymbol,
    userRef: null,
    tag: null,
    chainTag: tag,
    height: null,
    blockHash: null,
    confirmations: 0,
    threshold: network.threshold,
    incarnation: null,
    fee: null,
    failure: null,
    createdAt: at,
    updatedAt: at,
  };
}

/**
 * A withdrawal that was signed here and that the cloud calls unsigned, as it is. Its bytes may be on their way to the
 * cloud, or wait for it; `wasTaken`: it took them before, so that its word is false. Null for any other row.
 */
export function signedThough(
  row: TransactionJson,
  { instructions, environment }: Pick<Known, 'instructions' | 'environment'>,
): { readonly row: TransactionJson; readonly wasTaken: boolean } | null {
  if (row.direction !== 'out' || row.status !== 'built') return null;
  const signed = instructions.signaturesOf(row.id).filter((one) => one.signed !== null);
  return signed.length === 0
    ? null
    : {
        row: { ...row, status: 'signing', ...signedFacts(row.id, row.chain, { instructions, environment }) },
        wasTaken: signed.some(({ outcome }) => outcome !== 'open'),
      };
}

/** What this edge alone knows about a withdrawal: the txids that it signed, and the page of the newest. */
function signedFacts(
  id: string,
  chain: Chain,
  { instructions, environment }: Pick<Known, 'instructions' | 'environment'>,
): Pick<TransactionJson, 'txid' | 'versions' | 'explorerUrl'> {
  const txids = instructions.signaturesOf(id).flatMap(({ signed }) => (signed === null ? [] : [signed.txid])),
    txid = txids.at(-1) ?? null;
  return {
    txid,
    versions: txids.map((one) => ({ txid: one, at: 'signed' as const })),
    explorerUrl: txid === null || environment === 'sandbox' ? null : networkOf(chain).explorer.tx.replace('{id}', txid),
  };
}

/** What people read of a build, beside what the signer holds to the bytes. */
export function falseBuild(row: BuiltJson, { params }: Ask, { catalogueOf }: Known): string | null {
  const { id, status, feeEstimate, unsigned } = row,
    { fee, feeMax } = feeEstimate;
  const wrong = firstFalse(
    ['id', isId('txn', id) && (params['id'] === undefined || id === params['id'])],
    ['status', isUnsent(status)],
    ['feeEstimate.fee', isCount(fee)],
    ['feeEstimate.feeMax', isCount(feeMax) && feeMax === unsigned.feeMax],
  );
  const twice = hasTwins(unsigned.fee) ? 'unsigned.fee' : hasTwins(feeEstimate.parts) ? 'feeEstimate.parts' : null;
  return (
    wrong ??
    twice ??
    falseMoney(row, row, catalogueOf(row.chain)) ??
    firstFalse(['feeEstimate.fee', BigInt(fee) <= BigInt(feeMax)])
  );
}

/** Whether two names of a record differ in their letters' case only: a reader may take either. */
function hasTwins(record: object): boolean {
  const names = Object.keys(record).map((name) => name.toUpperCase());
  return new Set(names).size < names.length;
}

/** A withdrawal that is built or repriced is on no chain yet, or waits there to be replaced. */
const isUnsent = (status: string): boolean => ['built', 'signing', 'broadcast'].includes(status);
