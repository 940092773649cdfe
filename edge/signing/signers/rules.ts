/**
 * The rules by which a payload is signed, for all families. The first that is broken is the refusal.
 *
 *   asked before the payload is read
 *   chain        chain_mismatch                     summary, instruction and network are of one chain
 *   path         from_path_mismatch                 the sender's path is the instruction's
 *   sender       from_mismatch                      this edge derives the sender there
 *   purpose      sweep_destination_not_allowed      a sweep goes to the treasury, or to an entry of the allow-list
 *                not_the_gas_tank                   gas comes from the gas tank
 *                funding_destination_not_derived    and goes to an address that this edge derives
 *                cancel_destination                 a cancellation pays its own sender
 *
 *   asked of each fact that the family's reader yields, in its order
 *   destination  destination_mismatch               it pays whom the instruction names
 *   reachable    destination_refused                and what is sent there can be moved again
 *   token        token_mismatch                     it moves the token that was asked for, or none
 *   listed       token_not_in_registry              which this edge's own registry has, with the same decimals
 *   amount       amount_mismatch                    it pays exactly what was asked for; a send-all anything but nothing
 *   part         its own                            what one family alone has is as the instruction says
 *   summary      summary_mismatch                   the cloud said of it what it does
 *   fee          fee_mismatch                       the highest fee that was stated is that of the bytes
 *   fee_parts    fee_mismatch                       and so are the parts that people were shown
 *   ceiling      gas_limit, unit_limit, fee_cap, fee_rate_cap, too_large   no setting lifts these bounds
 *   costs        native_gas_limit, fee_cap, fee_price_cap, fee_ratio   the customer's own bounds (fee-bounds.ts, G29)
 *   share        fee_ratio                          what an issuer keeps of its token is a fee in that token
 *   clock        no_clock                           what ends by time is judged by this edge's clock
 *   ends         expired, expires_too_late, expiration_before_timestamp, expiration_too_far   within an hour (1.6-8)
 *   height       locktime, expiry                   no height that the chain cannot have by now (lying-in-wait.ts)
 *   counter      nonce_outside_window, sequence_outside_window, sequence_out_of_window   and no such counter
 *   once         instruction_signed_before          versions of an instruction exclude each other (1.6-7, G27)
 *                replacement_keeps_no_coin          on Bitcoin by a coin that they share
 *                replacement_differs                and pay the same, a send-all not more
 *                nonce_used, sequence_used, coin_used, payload_used   what pays one instruction pays no other
 *
 * A payload that cannot be read, or does more than one payment or trust line, is refused by its reader. A new family is
 * a reader; what it alone has is a `part`; a new kind of question is a fact with one rule here.
 */
import type { ReplayKey } from '../../../chains/chain.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import type { Fact, FactKind, Question, Reader } from './facts.ts';
import { checkFeeBounds, checkShare } from './fee-bounds.ts';
import { checkCounter, checkHeight } from './lying-in-wait.ts';
import { refuseToSign, type Signer } from './signer.ts';

/** How long a signature may be good where its end is a time, milliseconds. T16, M19: "at most an hour". */
const LIFE_MS_MAX = 3_600_000;

type Rule<K extends FactKind> = (fact: Fact<K>, question: Question) => Refusal | null;

const BEFORE: readonly ((question: Question) => Refusal | null)[] = [
  function chain({ network: { slug }, unsigned, instruction }) {
    if (unsigned.chain === slug && instruction.chain === slug) return null;
    return refuseToSign('chain_mismatch', { expected: slug, found: unsigned.chain });
  },
  function path({ unsigned: { fromPath: found }, instruction: { fromPath: expected } }) {
    return found === expected ? null : refuseToSign('from_path_mismatch', { expected, found });
  },
  function sender({ unsigned: { from: found }, instruction: { from, fromPath }, policy }) {
    const expected = policy.addressAt(fromPath);
    if (expected !== null && expected === from && expected === found) return null;
    return refuseToSign('from_mismatch', { expected, found });
  },
  function purpose({ instruction: { purpose: why, to, toPath, from }, policy }) {
    if (why === 'sweep' && !policy.sweepDestinations.includes(to))
      return refuseToSign('sweep_destination_not_allowed', { found: to });
    if (why === 'gas_funding' && from !== policy.gasTank)
      return refuseToSign('not_the_gas_tank', { expected: policy.gasTank, found: from });
    if (why === 'gas_funding' && (toPath === null || policy.addressAt(toPath) !== to))
      return refuseToSign('funding_destination_not_derived', { found: to });
    return why === 'cancel' && to !== from ? refuseToSign('cancel_destination', { expected: from, found: to }) : null;
  },
];

const RULES: { readonly [K in FactKind]: Rule<K> } = {
  destination: ({ to, asked, found }) =>
    to === found ? null : refuseToSign('destination_mismatch', { expected: asked, found }),

  reachable: ({ isRefused, found }) => (isRefused ? refuseToSign('destination_refused', { found }) : null),

  token: ({ found }, { instruction: { token } }) => {
    const expected = token?.contract ?? null;
    return found === expected ? null : refuseToSign('token_mismatch', { expected, found });
  },

  listed: (_, { instruction: { token }, policy: { catalogue } }) =>
    token === null || catalogue.get(token.contract)?.decimals === token.decimals
      ? null
      : refuseToSign('token_not_in_registry', { found: token.contract }),

  amount: ({ found, wanted }, { instruction: { amount, token } }) => {
    if (wanted === 'nothing')
      return found === 0n && token === null ? null : refuseToSign('amount_mismatch', { expected: 0n, found });
    const expected = wanted ?? amount;
    return found > 0n && (expected === 'all' || found === expected)
      ? null
      : refuseToSign('amount_mismatch', { expected, found });
  },

  part: ({ kind: _, reason, isSame, ...differs }) => (isSame ? null : refuseToSign(reason, differs)),

  summary: ({ to, amount, tokenContract, tag, of, sendAll }, { unsigned }) => {
    const samePayment =
      unsigned.to === to &&
      unsigned.amount === amount &&
      unsigned.tokenContract === tokenContract &&
      unsigned.tag === tag;
    return samePayment && unsigned.kind === of && unsigned.sendAll === sendAll
      ? null
      : refuseToSign('summary_mismatch');
  },

  fee: ({ inBytes, orMore = false }, { unsigned: { feeMax } }) =>
    feeMax === inBytes || (orMore && feeMax > inBytes)
      ? null
      : refuseToSign('fee_mismatch', { expected: inBytes, found: feeMax }),

  fee_parts: ({ inBytes, isAll = false }, { unsigned: { fee } }) => {
    const named = [...Object.keys(inBytes), ...(isAll ? Object.keys(fee) : [])];
    const own = (of: Readonly<Record<string, unknown>>, name: string) =>
      Object.hasOwn(of, name) ? of[name] : undefined;
    const wrong = named.find((name) => String(own(fee, name)) !== String(own(inBytes, name)));
    if (wrong === undefined) return null;
    const [expected, found] = [own(inBytes, wrong), own(fee, wrong)];
    return refuseToSign(
      'fee_mismatch',
      isAll ? { expected: expected ?? null, found: found ?? null } : { expected, found },
    );
  },

  ceiling: ({ reason, bound, value }) =>
    value > bound ? refuseToSign(reason, { expected: bound, found: value }) : null,

  // A funding is gas itself, as small as what an address lacks: its fee is no share of it.
  costs: ({ kind: _, amount, ...costs }, { unsigned: { chain }, instruction: { purpose }, policy }) =>
    checkFeeBounds(
      { ...costs, amount: purpose === 'gas_funding' ? null : amount, chain, isSweep: purpose === 'sweep' },
      policy,
    ),

  share: ({ kept, amount }, { instruction: { purpose }, policy }) =>
    checkShare({ fee: kept, amount, isSweep: purpose === 'sweep' }, policy),

  clock: (_, { policy: { nowMs } }) => (nowMs === undefined ? refuseToSign('no_clock') : null),

  ends: ({ unit, at, after }, { policy: { nowMs } }) => {
    if (nowMs === undefined) return refuseToSign('no_clock');
    const { perMs, early, late, latest } = ENDS[unit];
    const now = BigInt(Math.floor(nowMs / perMs)),
      last = now + BigInt(LIFE_MS_MAX / perMs),
      first = after ?? now;
    if (at <= first) return refuseToSign(early, { expected: `after ${first}`, found: at });
    return at > last ? refuseToSign(late, { expected: latest(last), found: at }) : null;
  },

  height: ({ reason, height, ahead = 0 }, { network: { slug }, policy }) =>
    checkHeight(slug, height, policy, reason, ahead),

  counter: ({ reason, value, mayBeBehind = false }, { network: { slug }, policy }) =>
    checkCounter(slug, value, policy, reason, { mayBeBehind }),

  once: ({ key, own, version, amountMayFall }, { unsigned: { payload }, instruction, policy: { journal } }) => {
    for (const text of journal.forInstruction) {
      const earlier = version(text);
      if (earlier === null) return refuseToSign('instruction_signed_before');
      if (!own.uses.some((part) => earlier.uses.includes(part))) return refuseToSign(APART[key.kind]);
      const paysTheSame = amountMayFall ? own.amount <= earlier.amount : own.amount === earlier.amount;
      if (!paysTheSame || own.rest !== earlier.rest) return refuseToSign('replacement_differs');
    }
    // V38: a cancellation takes the nonce of what it cancels.
    if (instruction.purpose === 'cancel' && key.kind === 'nonce') return null;
    const others = journal.withReplayKey(key).filter((other) => !journal.forInstruction.includes(other));
    // An expiry excludes nothing: there only the same bytes are the same transaction.
    const isUsed = key.kind === 'expiry' ? others.includes(payload) : others.some((other) => other !== payload);
    return isUsed ? refuseToSign(USED[key.kind], isCounter(key) ? { found: key.value } : {}) : null;
  },
};

/** How a chain names the end of a payload, and the refusals of one that is over and of one that is too far. */
const ENDS = {
  milliseconds: {
    perMs: 1,
    early: 'expiration_before_timestamp',
    late: 'expiration_too_far',
    latest: (last: bigint): unknown => `at most ${last}`,
  },
  seconds: { perMs: 1_000, early: 'expired', late: 'expires_too_late', latest: (last: bigint): unknown => last },
} as const;

/** Two versions that use up nothing in common could both land. */
const APART: Readonly<Record<ReplayKey['kind'], string>> = {
  nonce: 'instruction_signed_before',
  sequence: 'instruction_signed_before',
  outpoints: 'replacement_keeps_no_coin',
  expiry: 'instruction_signed_before',
};
const USED: Readonly<Record<ReplayKey['kind'], string>> = {
  nonce: 'nonce_used',
  sequence: 'sequence_used',
  outpoints: 'coin_used',
  expiry: 'payload_used',
};
const isCounter = ({ kind }: ReplayKey): boolean => kind === 'nonce' || kind === 'sequence';

/** Facts without which nothing is signed: a reader that forgets one is a broken program. */
const NEEDED: readonly FactKind[] = ['summary', 'fee', 'fee_parts', 'costs', 'once'];
/** Of what moves money: who gets it and how much. An opt-in pays nobody. */
const OF_A_PAYMENT: readonly FactKind[] = ['destination', 'amount'];
/** One of these keeps a payload from lying in wait. */
const ENDING: readonly FactKind[] = ['ends', 'height', 'counter'];

function judge<K extends FactKind>(fact: Fact<K>, question: Question): Refusal | null {
  const rule: Rule<K> = RULES[fact.kind as K];
  return rule(fact, question);
}

/** `Signer.check` of the family whose payloads this reader reads. */
export function checkBy(read: Reader): Signer['check'] {
  return (network, unsigned, instruction, policy) => {
    const question = { network, unsigned, instruction, policy };
    for (const rule of BEFORE) {
      const refusal = rule(question);
      if (refusal !== null) return refusal;
    }
    const facts = read(question),
      judged = new Set<FactKind>();
    for (let next = facts.next(); ; next = facts.next()) {
      if (next.done === true) {
        if (next.value === null) assertComplete(judged, question);
        return next.value;
      }
      judged.add(next.value.kind);
      const refusal = judge(next.value, question);
      if (refusal !== null) return refusal;
    }
  };
}

/** Throws: Error for a reader that left out what every payload must be judged by. */
function assertComplete(judged: ReadonlySet<FactKind>, { network, instruction }: Question): void {
  const needed = [
    ...NEEDED,
    ...(instruction.purpose === 'opt_in' ? [] : OF_A_PAYMENT),
    ...(instruction.token === null ? [] : (['listed'] as const)),
  ];
  const missing = needed.filter((kind) => !judged.has(kind));
  if (!ENDING.some((kind) => judged.has(kind))) missing.push('ends');
  if (missing.length > 0) throw new Error(`the reader of ${network.slug} left out ${missing.join(', ')}`);
}
