/**
 * Whether an event of a withdrawal may leave: of one that was asked for here every word of it that this edge asked for
 * or signed is its own to compare, as in the answers (answers/transaction-rules.ts). Block, fee and failure are the
 * cloud's word. found F12.
 */
import { falseMoney, firstFalse, isCanonical, isCount, isRenamed, type Known } from '../answers/known.ts';
import { falseWithdrawal } from '../answers/transaction-rules.ts';
import { withdrawalEnvelope, type WithdrawalEnvelope } from '../../protocol/schema/events.ts';
import { otherSpellingOf } from '../signing/other-spelling.ts';
import type { IssuedAddresses } from '../answers/issued-addresses.ts';
import type { Catalogue } from '../../chains/chain.ts';
import type { Chain, Environment } from '../../protocol/slugs.ts';
import type { Instructions } from '../signing/instructions.ts';
import { plainEvent } from './plain-event.ts';

const WITHDRAWAL_EVENTS = withdrawalEnvelope.shape.event;
const hasOtherName = otherSpellingOf(Object.keys(withdrawalEnvelope.shape.data.shape));

/** What an event is compared with. */
export interface KnownWithdrawals {
  readonly environment: Environment;
  readonly issued: Pick<IssuedAddresses, 'holderOf'>;
  readonly instructions: Known['instructions'] & Pick<Instructions, 'transactionsOf'>;
  /** Tokens of the registry in use. */
  readonly catalogueOf: (chain: Chain) => Catalogue;
}

/** Name of the first field that is not what this edge knows; null for an event that may leave, and for others. */
export async function falseWithdrawalEvent(body: string, known: KnownWithdrawals): Promise<string | null> {
  const parsed = plainEvent(body);
  if (parsed === null || !WITHDRAWAL_EVENTS.safeParse((parsed as { event?: unknown }).event).success) return null;
  const read = withdrawalEnvelope.safeParse(parsed);
  if (!read.success) return String(read.error.issues[0]?.path.at(-1) ?? 'data');
  if (hasOtherName((parsed as { data: object }).data)) return 'data';
  const { event, environment, data } = read.data;
  const wrong = falseWords(event, data, known) ?? falseRecord(data, known);
  if (environment !== undefined && environment !== known.environment) return 'environment';
  if (wrong !== null) return wrong;
  const { chain, from, userRef, tag } = data;
  const holder = chain === undefined || from === undefined ? null : await known.issued.holderOf(chain, from);
  return holder === null
    ? null
    : firstFalse(
        ['userRef', userRef === undefined || holder.userRef === userRef],
        ['tag', tag === undefined || holder.tag === tag],
      );
}

/** The event of a withdrawal of a token that is named otherwise here; null for others. */
export function renamedWithdrawal(body: string, { catalogueOf }: KnownWithdrawals): WithdrawalEnvelope | null {
  const read = withdrawalEnvelope.safeParse(plainEvent(body));
  if (!read.success) return null;
  const { chain, tokenContract, tokenSymbol } = read.data.data;
  return chain !== undefined &&
    tokenContract !== undefined &&
    tokenSymbol !== undefined &&
    isRenamed({ tokenContract, tokenSymbol }, catalogueOf(chain))
    ? read.data
    : null;
}

type Data = WithdrawalEnvelope['data'];

/** What contradicts itself, or is no amount or address at all. */
function falseWords(
  event: WithdrawalEnvelope['event'],
  data: Data,
  { catalogueOf }: Pick<KnownWithdrawals, 'catalogueOf'>,
): string | null {
  const { chain, from, txid, fee, failure, height, amount, amountFormatted, decimals, tokenContract, tokenSymbol } =
    data;
  const wrong = firstFalse(
    ['txid', txid !== null || event === 'withdrawal_failed'],
    ['failure', failure === undefined || (failure !== null) === (event === 'withdrawal_failed')],
    ['fee', fee == null || isCount(fee)],
    ['height', event !== 'withdrawal_confirmed' || height !== null],
  );
  if (wrong !== null || chain === undefined) return wrong;
  if (from !== undefined && !isCanonical(chain, from)) return 'from';
  return amount === undefined ||
    amountFormatted === undefined ||
    decimals === undefined ||
    tokenContract === undefined ||
    tokenSymbol === undefined
    ? null
    : falseMoney({ amount, amountFormatted, decimals }, { chain, tokenContract, tokenSymbol }, catalogueOf(chain));
}

/** What differs from what was asked for and signed here; what is not said is not false. */
function falseRecord(
  { transactionId: id, from, to, ...data }: Data,
  { instructions }: KnownWithdrawals,
): string | null {
  const signedFor = data.txid == null ? [] : instructions.transactionsOf(data.txid);
  if (id !== undefined && signedFor.length > 0 && !signedFor.includes(id)) return 'transactionId';
  const recorded = id === undefined ? null : instructions.get(id);
  if (id === undefined || recorded === null) return null;
  const { instruction, unsigned } = recorded;
  const said = {
    chain: instruction.chain,
    address: from ?? instruction.from,
    counterparty: to ?? instruction.to,
    tokenContract: instruction.token?.contract ?? null,
    chainTag: instruction.tag,
    amount: unsigned.amount.toString(),
    txid: null,
    height: null,
    ...Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)),
  };
  const wrong = isCount(said.amount) ? falseWithdrawal({ ...said, id }, { instructions }) : 'amount';
  return wrong === null ? null : (NAMES[wrong] ?? wrong);
}

/** As an event names what an answer names otherwise. */
const NAMES: Readonly<Record<string, string>> = { address: 'from', counterparty: 'to' };
