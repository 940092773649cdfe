/**
 * Unsigned envelopes and their repricing. Pure: everything that had to be asked is in the inputs. chains.md 9.5.
 *
 *   built      a TransactionV1 envelope, or a fee bump around one where another address pays (M28)
 *   repriced   a fee bump around the unchanged transaction, while that may still land (M21)
 *   expired    built again under the same sequence, so that at most one of the two can land (G27)
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Intent, Network, ReplayKey, Token, Unsigned } from '../chain.ts';
import { minimumBalance } from './balance.ts';
import { decodePayload, encodePayload, type OwnOperation, type OwnTransaction, type Payload } from './envelope.ts';
import { BUMPED_OPERATIONS, checkFeeRatio, displacingFee, feeOf, OPERATIONS, operationsOf, type Fee } from './fee.ts';
import type { XlmInputs } from './inputs.ts';
import { STELLAR_DECIMALS } from './network.ts';
import { checkFunds, checkParties, checkTrustline, feeFunds, INT64_MAX, spendable, type Wish } from './payable.ts';

/**
 * Seconds between the last close and the last ledger that may hold a transaction. M19: signed at once, while online.
 */
export const LIFETIME_SECONDS = 180;

/** The sequence that the ledger takes next of the sender; 0 for an account that is not there. M19. */
export function nextReplayValue({ sender }: XlmInputs): bigint {
  return sender === null ? 0n : BigInt(sender.sequence) + 1n;
}

/**
 * A payment or an opt-in as an envelope. Refuses: INVALID_INPUT, INVALID_ADDRESS, INVALID_AMOUNT, CONFLICT (sequence,
 * trust line), DESTINATION_OPT_IN_REQUIRED, CHAIN_REJECTED, INSUFFICIENT_FUNDS, INSUFFICIENT_GAS, INSUFFICIENT_RESERVE,
 * AMOUNT_CAP_EXCEEDED.
 */
export function buildUnsigned(
  network: Network,
  inputs: XlmInputs,
  intent: Intent,
  replay: ReplayKey | null,
): Unsigned | Refusal {
  const next = nextReplayValue(inputs);
  if (replay !== null && replay.kind !== 'sequence')
    return refuse('INVALID_INPUT', { reason: 'expected a sequence', kind: replay.kind });
  // M19: no gaps. Another sequence waits for a transaction that is still under way, or is used.
  if (replay !== null && inputs.sender !== null && BigInt(replay.value) !== next) {
    return refuse('CONFLICT', { reason: 'sequence', expected: next.toString(), found: replay.value });
  }
  const fee = feeOf(network, inputs, operationsOf(inputs, intent));
  if ('ok' in fee) return fee;
  return intent.kind === 'trustline'
    ? buildTrustline(network, inputs, intent, fee, next)
    : buildPayment(network, inputs, intent, fee, next, intent.maxFeeRatioBps);
}

function buildTrustline(
  network: Network,
  inputs: XlmInputs,
  intent: Intent,
  fee: Fee,
  sequence: bigint,
): Unsigned | Refusal {
  const refusal = checkTrustline(inputs, intent, fee);
  if (refusal !== null) return refusal;
  const { from, fromPath, token } = intent;
  const operation: OwnOperation = { kind: 'change_trust', asset: token!.contract, limit: INT64_MAX };
  const summary = {
    to: from,
    amount: 0n,
    tokenContract: token!.contract,
    tag: null,
    kind: 'trustline',
    sendAll: false,
  } as const;
  const built = unsignedOf(network, inputs, { from, fromPath }, fee, { sequence, operation, memoId: null }, summary);
  // M26: until the issuer has authorised it, the line receives nothing. For people.
  return {
    ...built,
    fee: { ...built.fee, issuerAuthorization: inputs.issuer?.authRequired === true ? 'required' : 'none' },
  };
}

function buildPayment(
  network: Network,
  inputs: XlmInputs,
  wish: Wish,
  fee: Fee,
  sequence: bigint,
  ratioBpsMax: number | undefined,
): Unsigned | Refusal {
  const parties = checkParties(inputs, wish);
  if (parties !== null) return parties;
  const amount = amountOf(inputs, wish, fee);
  if (typeof amount !== 'bigint') return amount;
  const refusal =
    checkFunds(inputs, wish, amount, fee) ?? checkFeeRatio(fee, amount, wish.token === null ? ratioBpsMax : undefined);
  if (refusal !== null) return refusal;
  const { from, fromPath, to, token, tag } = wish,
    tokenContract = token?.contract ?? null;
  const summary = { to, amount, tokenContract, tag, kind: 'payment', sendAll: wish.amount === 'all' } as const;
  const own = operationFor(inputs, wish, amount);
  const built = unsignedOf(network, inputs, { from, fromPath }, fee, { sequence, ...own }, summary);
  const isCreation = own.operation.kind === 'create_account';
  return isCreation && wish.tagOfAddress === true && tag !== null ? { ...built, tagOfAddress: true } : built;
}

/** M25, C8-65: an account that is not there is created, which names it without an id; the id goes along as a memo. */
function operationFor(
  { destination }: XlmInputs,
  { to, token, tag, tagOfAddress }: Wish,
  amount: bigint,
): Pick<OwnTransaction, 'operation' | 'memoId'> {
  if (destination === null && token === null)
    return { operation: { kind: 'create_account', to, startingBalance: amount }, memoId: tag };
  const id = tagOfAddress === true ? tag : null;
  return {
    operation: { kind: 'payment', to: { address: to, id }, asset: token?.contract ?? null, amount },
    memoId: id === null ? tag : null,
  };
}

/** V36, M27: a send-all leaves the reserve, what the caller keeps beyond it, and the fee that is signed. */
function amountOf(inputs: XlmInputs, wish: Wish, fee: Fee): bigint | Refusal {
  const { amount, token, from, leave = 0n } = wish;
  if (amount !== 'all') {
    return amount > 0n && amount <= INT64_MAX ? amount : refuse('INVALID_AMOUNT', { amount: amount.toString() });
  }
  const balance = spendable(inputs, wish);
  if (balance === 0n) return refuse('INSUFFICIENT_FUNDS', { balance: '0', required: '1' });
  if (token !== null) return balance;
  const reserve = inputs.sender === null ? 0n : minimumBalance(inputs.sender, BigInt(inputs.baseReserve));
  const kept = leave > reserve ? leave : reserve,
    paid = inputs.feePayer === from ? fee.total : 0n;
  if (balance > kept + paid) return balance - kept - paid;
  return refuse(balance > kept ? 'INSUFFICIENT_GAS' : 'INSUFFICIENT_RESERVE', {
    balance: balance.toString(),
    required: (kept + paid + 1n).toString(),
  });
}

type Summary = Pick<Unsigned, 'to' | 'amount' | 'tokenContract' | 'tag' | 'kind' | 'sendAll'>;

function unsignedOf(
  network: Network,
  inputs: XlmInputs,
  { from, fromPath }: Pick<Wish, 'from' | 'fromPath'>,
  fee: Fee,
  { sequence, operation, memoId }: Pick<OwnTransaction, 'sequence' | 'operation' | 'memoId'>,
  summary: Summary,
): Unsigned {
  const maxTime = BigInt(inputs.closeTime + LIFETIME_SECONDS),
    selfPaid = inputs.feePayer === from;
  // Under a bump the inner offer is nothing: without its bump the transaction is of no use to anybody.
  const feeStroops = selfPaid ? Number(fee.total) : 0;
  const payload: Payload = {
    transaction: { source: from, feeStroops, sequence, maxTime, memoId, operation },
    bump: selfPaid ? null : { feeSource: inputs.feePayer, feeStroops: fee.total },
  };
  return {
    chain: network.slug,
    payload: encodePayload(payload),
    from,
    fromPath,
    ...summary,
    feeMax: fee.total,
    fee: feePartsOf(payload),
    replayKey: { kind: 'sequence', value: sequence.toString() },
    readAtHeight: inputs.readAtHeight,
  };
}

/** What a payload says of its fee, for people; the edge holds it against the bytes. */
export function feePartsOf({
  transaction: { source, feeStroops, maxTime },
  bump,
}: Payload): Record<string, string | number> {
  const operations = bump === null ? OPERATIONS : BUMPED_OPERATIONS;
  return {
    operations,
    feeStroops: (bump?.feeStroops ?? BigInt(feeStroops)).toString(),
    feeSource: bump?.feeSource ?? source,
    maxTime: Number(maxTime),
  };
}

/** Offer per operation of a payload, stroops, not rounded down. */
function offerOf({ transaction, bump }: Payload): bigint {
  if (bump === null) return BigInt(transaction.feeStroops);
  const operations = BigInt(BUMPED_OPERATIONS);
  return (bump.feeStroops + operations - 1n) / operations;
}

/**
 * M21: a fee bump around the unchanged transaction, paid by the fee payer of the inputs, which may be the sender; a
 * transaction that has expired is built again under its own sequence. Refuses: CONFLICT (the sequence is used),
 * INSUFFICIENT_GAS, AMOUNT_CAP_EXCEEDED, and what a build refuses.
 */
export function reprice(network: Network, unsigned: Unsigned, inputs: XlmInputs, isSigned = true): Unsigned | Refusal {
  const decoded = decodePayload(unsigned.payload);
  if (!decoded.ok) throw new Error(`a payload of ours does not decode: ${decoded.reason}`);
  const { payload } = decoded,
    { transaction } = payload;
  const next = nextReplayValue(inputs);
  if (next !== transaction.sequence) {
    return refuse('CONFLICT', {
      reason: 'sequence',
      expected: next.toString(),
      found: transaction.sequence.toString(),
    });
  }
  // An edge signs a bump around what it signed before only: what is inside can land alone, and its hash must be known.
  if (!isSigned || BigInt(inputs.closeTime) > transaction.maxTime) return rebuild(network, unsigned, payload, inputs);
  const fee = displacingFee(network, inputs, offerOf(payload));
  if ('ok' in fee) return fee;
  const { feePayer } = inputs,
    selfPaid = feePayer === unsigned.from;
  const native = unsigned.tokenContract === null && selfPaid ? unsigned.amount : 0n;
  const funds = feeFunds(selfPaid ? inputs.sender : inputs.payer, BigInt(inputs.baseReserve)) - native;
  if (funds < fee.total) {
    const balance = funds > 0n ? funds : 0n;
    return refuse('INSUFFICIENT_GAS', { balance: balance.toString(), required: fee.total.toString(), feePayer });
  }
  const bumped: Payload = { transaction, bump: { feeSource: feePayer, feeStroops: fee.total } };
  return { ...unsigned, payload: encodePayload(bumped), feeMax: fee.total, fee: feePartsOf(bumped) };
}

/**
 * The same transaction under the sequence that is next, with a new expiry. Of several that were built to create one
 * account the first creates it, and the others pay what is there by now: a creation would fail. Refuses: CONFLICT: a
 * sequence has no gaps (M19); INVALID_INPUT: the account that is there requires a memo (M24).
 */
export function withCounter(
  _network: Network,
  unsigned: Unsigned,
  inputs: XlmInputs,
  replay: ReplayKey,
): Unsigned | Refusal {
  if (replay.kind !== 'sequence') throw new Error(`expected a sequence, got ${replay.kind}`);
  const decoded = decodePayload(unsigned.payload),
    next = nextReplayValue(inputs);
  if (!decoded.ok) throw new Error(`a payload of ours does not decode: ${decoded.reason}`);
  if (BigInt(replay.value) !== next)
    return refuse('CONFLICT', { reason: 'sequence', expected: next.toString(), found: replay.value });
  const { transaction, bump } = decoded.payload,
    { tagOfAddress, ...rest } = unsigned;
  const isCreatedBySomebody = transaction.operation.kind === 'create_account' && inputs.destination !== null;
  const wish: Wish = { ...unsigned, token: null, ...(tagOfAddress === true ? { tagOfAddress } : {}) };
  const parties = isCreatedBySomebody ? checkParties(inputs, wish) : null;
  if (parties !== null) return parties;
  const payload: Payload = {
    transaction: {
      ...transaction,
      ...(isCreatedBySomebody ? operationFor(inputs, wish, unsigned.amount) : {}),
      sequence: next,
      maxTime: BigInt(inputs.closeTime + LIFETIME_SECONDS),
    },
    bump,
  };
  // `fee` also says what is in no byte, as whether the issuer must authorise the line.
  return {
    ...(isCreatedBySomebody ? rest : unsigned),
    payload: encodePayload(payload),
    fee: { ...unsigned.fee, ...feePartsOf(payload) },
    replayKey: replay,
    readAtHeight: inputs.readAtHeight,
  };
}

/** The amount of a send-all goes down with the fee, never up. */
function rebuild(
  network: Network,
  unsigned: Unsigned,
  { transaction }: Payload,
  inputs: XlmInputs,
): Unsigned | Refusal {
  const { from, fromPath, to, tokenContract: contract, tag, kind, sendAll } = unsigned,
    { operation, sequence } = transaction;
  const token: Token | null =
    contract === null
      ? null
      : { chain: network.slug, contract, symbol: contract.split(':')[0]!, decimals: STELLAR_DECIMALS };
  const fee = feeOf(network, inputs, operationsOf(inputs, { from }));
  if ('ok' in fee) return fee;
  // What became of the expired version is looked for from where that one was built.
  const { readAtHeight } = unsigned;
  if (kind === 'trustline') {
    const opened = buildTrustline(
      network,
      inputs,
      { chain: network.slug, from, fromPath, to, amount: 0n, token, tag, kind },
      fee,
      sequence,
    );
    return 'ok' in opened ? opened : { ...opened, readAtHeight };
  }
  const isMuxed = operation.kind === 'payment' ? operation.to.id !== null : unsigned.tagOfAddress === true;
  const wish: Wish = {
    from,
    fromPath,
    to,
    amount: unsigned.amount,
    token,
    tag,
    ...(isMuxed ? { tagOfAddress: true } : {}),
  };
  const all = sendAll ? amountOf(inputs, { ...wish, amount: 'all' }, fee) : unsigned.amount;
  if (typeof all !== 'bigint') return all;
  const amount = all < unsigned.amount ? all : unsigned.amount;
  const built = buildPayment(network, inputs, { ...wish, amount }, fee, sequence, undefined);
  return 'ok' in built ? built : { ...built, sendAll, readAtHeight };
}
