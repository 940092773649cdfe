/**
 * Building a withdrawal: what the chain was asked comes with the command, the counter is allocated here, and the pure
 * builder of the chain makes the payload, so that one decision does all of it. G25–G27, V36–V40.
 *
 *   (none) → built          a payload exists, nothing is signed
 *   built → built           repriced
 *   built → built           its counter is bound, for the broadcast (binding.ts)
 *   built → expired         abandoned, nobody signed it for BUILD_TTL, or newer builds took its coins
 *   built → signing         signed bytes are stored (signed.ts)
 *   signing → broadcast     a node took them
 *   broadcast ⇄ confirming  in a block, out of it again (settlement.ts)
 *   confirming → confirmed  at the threshold
 *   any open → failed       refused for good, reverted in a final block, or proven dead
 */
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import type { AccountEvent, RowWrite, OutgoingSees } from '../../model/account/capabilities.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import type { BuildInputs, ChainModule, Network, ReplayKey, Unsigned } from '../../chains/chain.ts';
import { ledgerOf } from '../../protocol/ids.ts';
import { FAMILY_OF } from '../../protocol/slugs.ts';
import {
  allocate,
  counterKey,
  holdOf,
  isCounted,
  limitOf,
  believedNext,
  gapBelow,
  released,
  spokenFor,
  waitingIn,
  replayKeyOf,
  type Counters,
} from './counters.ts';
import { heldBy, queueFull } from './binding.ts';
import { accept, firstRefusal, type AccountDecision, type Deciding } from '../account/decision.ts';
import { rotationPending, suspended } from '../account/guards.ts';
import { watchOnly } from '../key-source/decide.ts';
import { moved as movedTransfer, transferWrite } from '../bridge/moves.ts';
import { moved, operationWrite, UNSIGNED } from '../sweep/moves.ts';
import { settledLimit } from './settled-limit.ts';
import { pathOf } from '../edge-link/retired-identities.ts';
import { changedAtMs, clashOf, holdOfRow, isUnbound, notNewest, ROLE_OF } from './row.ts';
import type { Counter, OperationArrow } from '../../model/account/outgoing.ts';

/**
 * A payload with its counter.
 * Refuses: IDENTITY_ROTATION_PENDING, ACCOUNT_SUSPENDED, TIER_FEATURE_LOCKED, CONFLICT (in flight), CHAIN_UNAVAILABLE,
 * and what the chain's builder refuses.
 */
export function buildWithdrawal(deciding: Deciding<'build_withdrawal'>): AccountDecision<'build_withdrawal'> {
  const { state, command, book, nowMs } = deciding;
  const { chain } = command.intent;
  const module = book.module(chain);
  // The counter of a build is what is next now, for people; nothing holds it before it is bound.
  const place = isCounted(FAMILY_OF[chain]) ? placeBesideOthers(deciding) : placeFor(deciding, 'over_limit');
  const no = firstRefusal(
    rotationPending(state),
    suspended(state),
    arrowOf(command) !== undefined ? null : settledLimit(state, nowMs),
    sweepUnderWay(command),
    watchOnly(state, chain, pathOf(state, command.from)),
    isRefusal(place) ? place : null,
    module === null ? refuse('CHAIN_UNAVAILABLE', { chain, permanent: true }) : null,
  );
  if (no !== null) return no;
  const built = buildAt(deciding, module!, place as Place);
  if (built.ok || isCounted(FAMILY_OF[chain])) return built;
  // Coins that a build holds which nobody signed stall nobody.
  const room = placeFor(deciding, 'all') as Place;
  const again = room.events.length > (place as Place).events.length ? buildAt(deciding, module!, room) : built;
  return again.ok ? again : built;
}

function buildAt(
  deciding: Deciding<'build_withdrawal'>,
  module: ChainModule,
  { counter, events, rows }: Place,
): AccountDecision<'build_withdrawal'> {
  const { command, book, nowMs } = deciding;
  const { intent, inputs } = command;
  const network = book.network(intent.chain);
  const feeEstimate = module.estimateFee(network, inputs, intent);
  if (isRefusal(feeEstimate)) return feeEstimate;
  const proposal = proposalFor(module, network, deciding, counter);
  if (isRefusal(proposal)) return proposal;
  const unsigned = module.buildUnsigned(network, inputs, intent, proposal ?? spokenFor(counter));
  if (isRefusal(unsigned)) return unsigned;
  const hold = proposal === null ? holdOf(intent.chain, intent.from, unsigned.replayKey) : null;
  const clash = hold?.values.find((value) => value in (counter?.inFlight ?? {}));
  if (clash !== undefined) return refuse('CONFLICT', { reason: 'inputs_in_flight', value: clash });
  const beyond = beyondTank(command.operation, unsigned);
  if (beyond !== null) return beyond;
  const row = builtRow(deciding, unsigned);
  const claimed = { next: null, free: [] };
  return accept(
    { ...row, feeEstimate },
    [
      ...events,
      { type: 'withdrawal_built', id: row.id, atMs: nowMs, hold: hold === null ? null : { ...hold, ...claimed } },
    ],
    [...rows, { table: 'withdrawal', row }, ...operationRows(deciding, unsigned)],
  );
}

type Command = Deciding<'build_withdrawal'>['command'];
/** The arrow of a sweep's operation or of a bridge transfer that it is; undefined: a caller's. */
const arrowOf = ({ operation, bridging }: Pick<Command, 'operation' | 'bridging'>) => bridging ?? operation;

/** What a row of the treasury's own says of itself. Treasury S23. */
function ownOf(command: Command): Pick<WithdrawalRow, 'kind' | 'role' | 'operationId'> {
  const arrow = arrowOf(command);
  return arrow === undefined ? {} : { kind: 'sweep', role: ROLE_OF[arrow.to], operationId: arrow.known.id };
}

/** Refuses: CONFLICT while a sweep of the sender may be signed; one that cannot yet gives way. Treasury S21. */
function sweepUnderWay({ sweeping, operation }: Command): Refusal | null {
  if (sweeping == null || operation !== undefined || UNSIGNED.has(sweeping.state)) return null;
  return refuse(
    'CONFLICT',
    { reason: 'sweep_in_flight', operationId: sweeping.id },
    'a sweep of this address is being signed or is on its way: build again when it has ended',
  );
}

/** What the tank pays of a build, and keeps until that is in a block: gas with its fee, or a fee paid along. W9. */
const ofTank = ({ to, left }: OperationArrow, { amount, feeMax }: Unsigned): bigint =>
  to === 'FUNDING' ? amount + feeMax : left === null ? 0n : feeMax;

/** Refuses: INSUFFICIENT_FUNDS where the tank keeps for other operations what this one takes. Treasury W9. */
function beyondTank(operation: OperationArrow | undefined, unsigned: Unsigned): Refusal | null {
  if (operation === undefined || operation.left === null) return null;
  const required = ofTank(operation, unsigned);
  return required <= operation.left
    ? null
    : refuse('INSUFFICIENT_FUNDS', { balance: String(operation.left), required: String(required) });
}

/** What a build means for an operation: its own arrow, or that it gives way. */
function operationRows(
  { command: { id, operation, bridging, sweeping }, nowMs }: Deciding<'build_withdrawal'>,
  unsigned: Unsigned,
): RowWrite[] {
  if (bridging !== undefined)
    return [transferWrite(movedTransfer(bridging.known, bridging.to, bridging.fields, nowMs))];
  if (operation !== undefined) {
    const { known, to } = operation,
      { amount } = unsigned,
      promised = ofTank(operation, unsigned);
    // What the chain's builder made of it: an issued amount may be rounded down.
    if (to === 'SIGNING') return [operationWrite(moved(known, to, { amount, promised }, nowMs))];
    const second = known.state === 'FUNDING' ? { fundId: id, firstFundId: known.fundId } : {},
      funding = (known.funding ?? 0n) + amount;
    return [operationWrite(moved(known, to, { funding, promised, ...second }, nowMs))];
  }
  if (sweeping == null) return [];
  return [operationWrite(moved(sweeping, 'SKIPPED', { reason: 'withdrawal_in_flight' }, nowMs))];
}

/** What the chain would take next of the sender; null where it has no counter. Refuses: CHAIN_UNAVAILABLE. */
function proposalFor(
  module: ChainModule,
  { reorgWindow }: Network,
  { state, command, nowMs }: Deciding<'build_withdrawal'>,
  counter: Counter | undefined,
): ReplayKey | null | Refusal {
  const { intent, inputs, used } = command;
  const chainNext = module.nextReplayValue(inputs);
  if (chainNext === null) return null;
  const next = believedNext(intent.chain, counter, BigInt(chainNext), inputs, used, reorgWindow);
  if (isRefusal(next)) return next;
  const gap = gapFor(state, command, counter, module, nowMs);
  const allocation = gap === null ? allocate(counter, next) : allocate({ ...counter!, next: String(gap) }, gap);
  return replayKeyOf(FAMILY_OF[intent.chain], allocation.value);
}

function gapFor(
  state: OutgoingSees,
  { inputs, used }: Deciding<'build_withdrawal'>['command'],
  counter: Counter | undefined,
  module: ChainModule | null,
  nowMs: number,
): bigint | null {
  const chainNext = module?.nextReplayValue(inputs) ?? null;
  return chainNext === null
    ? null
    : gapBelow(counter, BigInt(chainNext), { inputs, used }, (id) => state.withdrawals[id] ?? 0, nowMs);
}

function builtRow({ state, command, nowMs }: Deciding<'build_withdrawal'>, unsigned: Unsigned): WithdrawalRow {
  const { id, intent, from, tokenSymbol, decimals } = command;
  return {
    id,
    ...ownOf(command),
    accountId: state.accountId,
    ledger: ledgerOf(intent.chain, state.accountId),
    chain: intent.chain,
    from: intent.from,
    to: intent.to,
    amount: unsigned.amount,
    decimals,
    tokenContract: unsigned.tokenContract,
    tokenSymbol,
    userRef: from.userRef,
    tag: from.tag,
    status: 'built',
    unsigned,
    versions: [],
    txid: null,
    height: null,
    blockHash: null,
    fee: null,
    failure: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

interface Place {
  readonly counter: Counter | undefined;
  readonly events: AccountEvent[];
  readonly rows: RowWrite[];
}

/**
 * Where a counter is bound at the broadcast a build takes nobody's place; a full queue says so before the caller signs.
 * Refuses: CONFLICT.
 */
function placeBesideOthers({ state, command, book, inFlight, nowMs }: Deciding<'build_withdrawal'>): Place | Refusal {
  const { chain, from } = command.intent,
    key = counterKey(chain, from),
    waiting = waitingIn(state.counters[key]);
  // what fills one is never one too many
  const isGap = gapFor(state, command, state.counters[key], book.module(chain), nowMs) !== null;
  const full = isGap
    ? null
    : queueFull(
        waiting,
        limitOf(inFlight, command.from.purpose, FAMILY_OF[chain]),
        book.network(chain),
        'build it again',
      );
  if (full !== null) return full;
  const counters = waiting
    .filter(({ stage }) => stage === 'built')
    .reduce((left, { id }) => released(left, heldBy(left, key, id), id, true), state.counters);
  return { counter: counters[key], events: [], rows: [] };
}

/**
 * Room for coins under the in-flight limit: the oldest unsigned builds give way at the limit, or all of them when the
 * coins do not suffice. What is signed may land and keeps its place. Refuses: CONFLICT.
 */
function placeFor(
  { state, command, book, inFlight, nowMs }: Deciding<'build_withdrawal'>,
  gives: 'all' | 'over_limit',
): Place | Refusal {
  const { chain, from } = command.intent;
  const key = counterKey(chain, from),
    limit = limitOf(inFlight, command.from.purpose, FAMILY_OF[chain]);
  const waiting = waitingIn(state.counters[key]);
  const changed = ({ id }: { id: string }) => state.withdrawals[id] ?? 0;
  const unsigned = waiting.filter(({ stage }) => stage === 'built').sort((a, b) => changed(a) - changed(b));
  const giving = gives === 'all' ? unsigned : unsigned.slice(0, Math.max(0, waiting.length - limit + 1));
  const full =
    waiting.length - giving.length < limit ? null : queueFull(waiting, 0, book.network(chain), 'build it again');
  if (full !== null) return full;
  let counters: Counters = state.counters;
  const events: AccountEvent[] = [],
    rows: RowWrite[] = [];
  for (const { id } of giving) {
    const hold = heldBy(counters, key, id);
    counters = released(counters, hold, id, true);
    events.push({ type: 'withdrawal_expired', id, hold });
    rows.push({
      table: 'withdrawal_status',
      id,
      status: 'expired',
      updatedAtMs: changedAtMs({ updatedAtMs: changed({ id }) }, nowMs),
    });
  }
  return { counter: counters[key], events, rows };
}

/**
 * The same payment at another fee, under the same replay key. Older signed versions may still land.
 * Refuses: IDENTITY_ROTATION_PENDING, ACCOUNT_SUSPENDED, CONFLICT, CHAIN_UNAVAILABLE, and what the chain's builder
 * refuses.
 */
export function repriceWithdrawal({
  state,
  command,
  book,
  nowMs,
}: Deciding<'reprice_withdrawal'>): AccountDecision<'reprice_withdrawal'> {
  const { known, inputs } = command;
  const module = book.module(known.chain);
  const no = firstRefusal(
    rotationPending(state),
    suspended(state),
    notNewest(state, known),
    watchOnly(state, known.chain, known.unsigned.fromPath),
    known.height === null ? null : refuse('CONFLICT', { reason: 'in_a_block', status: known.status }),
    signedAndExpires(known),
    module === null ? refuse('CHAIN_UNAVAILABLE', { chain: known.chain, permanent: true }) : null,
  );
  if (no !== null) return no;
  const network = book.network(known.chain);
  const repriced = repricingOf(network, known, inputs);
  if (isRefusal(repriced)) return repriced;
  const priced = module!.reprice(network, known.unsigned, inputs, known.versions.length > 0);
  if (isRefusal(priced)) return priced;
  const { boundAtMs } = known.unsigned;
  const unsigned: Unsigned = {
    ...priced,
    ...(repriced === null ? {} : { repriced }),
    ...(boundAtMs === undefined ? {} : { boundAtMs }),
  };
  const atMs = changedAtMs(known, nowMs);
  // A version of before did not keep its amount; the last one's is that of its build.
  const versions = known.versions.map((version) =>
    version.amount === undefined && version.payload === known.unsigned.payload
      ? { ...version, amount: String(known.unsigned.amount) }
      : version,
  );
  // What is signed keeps the amount of its version until the new one is signed.
  const amount = known.txid === null ? unsigned.amount : known.amount;
  const row: WithdrawalRow = { ...known, unsigned, versions, amount, updatedAtMs: atMs };
  const clash = isUnbound(row) ? null : clashOf(state, row);
  if (clash !== null) return clash;
  return accept(
    row,
    [{ type: 'withdrawal_repriced', id: row.id, atMs, hold: holdOfRow(row) }],
    [{ table: 'withdrawal', row }],
  );
}

/**
 * Two payloads that only expire exclude each other by nothing, and "expired" is one node's word: what is signed stays
 * the only one of its kind, and what died is paid by a new build. Refuses: CONFLICT. found F13, L31.
 */
function signedAndExpires({ versions, unsigned: { replayKey } }: WithdrawalRow): Refusal | null {
  if (versions.length === 0 || replayKey.kind !== 'expiry') return null;
  return refuse(
    'CONFLICT',
    { reason: 'signed_payload_only_expires', signed: true, txids: versions.map(({ txid }) => txid) },
    'a signed payment of this chain is not repriced: wait until it has expired, look for its txid, then build a new one',
  );
}

type Repriced = NonNullable<Unsigned['repriced']>;

/**
 * The count of repricings with this one. Nobody has seen a build that is not signed: it may be repriced at will. A node
 * that lags does not make a new block of an old one. Refuses: CONFLICT. V37.
 */
function repricingOf(
  { repricingsPerBlockMax: limit }: Network,
  { versions, unsigned }: WithdrawalRow,
  { readAtHeight }: BuildInputs,
): Repriced | null | Refusal {
  if (limit === undefined || versions.length === 0) return null;
  const { repriced } = unsigned;
  if (repriced === undefined || readAtHeight > repriced.atHeight) return { atHeight: readAtHeight, count: 1 };
  if (repriced.count < limit) return { ...repriced, count: repriced.count + 1 };
  return refuse(
    'CONFLICT',
    { reason: 'repriced_in_this_block', limit, height: repriced.atHeight },
    `repriced ${limit} times since the last block; wait for the next one`,
  );
}

/** Gives up a build that was never signed and frees its counter value. Refuses: CONFLICT. */
export function abandonWithdrawal({
  state,
  command: { known },
  nowMs,
}: Deciding<'abandon_withdrawal'>): AccountDecision<'abandon_withdrawal'> {
  const no = firstRefusal(
    notNewest(state, known),
    known.status === 'built' && known.versions.length === 0
      ? null
      : refuse('CONFLICT', { reason: 'signed', status: known.status }),
  );
  if (no !== null) return no;
  const row: WithdrawalRow = { ...known, status: 'expired', updatedAtMs: changedAtMs(known, nowMs) };
  return accept(
    row,
    [{ type: 'withdrawal_expired', id: row.id, hold: holdOfRow(row) }],
    [{ table: 'withdrawal', row }],
  );
}
