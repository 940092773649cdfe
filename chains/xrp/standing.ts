/**
 * What a server says of itself: its newest validated ledger, which ledgers it has, its network, reserves and base fee.
 * `server_state` counts in drops; `server_info` in XRP, and gives the age of its newest ledger. chains.md 8.2, 8.4.
 */
import { decimalTextOf } from '../../protocol/lossless-json.ts';
import { ChainUnavailable } from '../chain.ts';
import { exactDecimal } from '../decimal.ts';
import { countIn, hashIn, integerIn, malformed, objectIn, type Answer } from '../node-answer.ts';
import type { XrpReserves } from './balance.ts';
import { XRP_DECIMALS } from './network.ts';

/** Heights [first, last], both inclusive, that a server has without a gap. */
export interface LedgerRange {
  readonly first: number;
  readonly last: number;
}

export interface Standing {
  readonly height: number;
  /** Upper-case hex. */
  readonly hash: string;
  readonly complete: readonly LedgerRange[];
  /** Decimal text; the main network may leave it out, and is then `0`. */
  readonly networkId: string;
  readonly reserves: XrpReserves;
  readonly baseFeeDrops: bigint;
}

/** A newest ledger older than this comes from a server that stopped validating. Spec: chains.md 8.4. */
const AGE_SECONDS_MAX = 60;
/** Source: xrpl.org "rippled Server States"; a Clio server names none. */
const SERVING_STATES: readonly unknown[] = ['full', 'proposing', 'validating', undefined];

const no = (reason: string): ChainUnavailable => new ChainUnavailable('xrp', reason);

/**
 * The standing in an answer of `server_state` or `server_info`.
 * Throws: ChainUnavailable for a server that is not in sync, has no validated ledger or an old one; MalformedReply.
 */
export function standingOf(answer: Answer): Standing {
  const inDrops = answer['state'] !== undefined;
  const said = objectIn(inDrops ? answer['state'] : answer['info'], 'state of the server');
  if (!SERVING_STATES.includes(said['server_state'])) {
    throw no(`the server is ${String(said['server_state']).slice(0, 20)}`);
  }
  if (said['amendment_blocked'] === true) throw no('the server is amendment blocked');
  if (said['validated_ledger'] === undefined) throw no('the server has no validated ledger');
  const ledger = objectIn(said['validated_ledger'], 'validated_ledger');
  const age = ledger['age'] === undefined ? 0 : countIn(ledger['age'], 'age of the validated ledger');
  if (age > AGE_SECONDS_MAX) throw no(`the newest validated ledger is ${age} s old`);
  const amount = (name: string): bigint =>
    inDrops ? integerIn(ledger[name], name) : dropsIn(ledger[`${name}_xrp`], name);
  return {
    height: countIn(ledger['seq'], 'seq of the validated ledger'),
    hash: hashIn(ledger['hash'], 'hash of the validated ledger').toUpperCase(),
    complete: rangesIn(said['complete_ledgers']),
    networkId: said['network_id'] === undefined ? '0' : String(countIn(said['network_id'], 'network_id')),
    reserves: { base: amount('reserve_base'), increment: amount('reserve_inc') },
    baseFeeDrops: amount('base_fee'),
  };
}

/** XRP as a decimal number (also `1e-05`), in drops. Throws: MalformedReply. */
function dropsIn(value: unknown, what: string): bigint {
  const text = decimalTextOf(value);
  return (text === null ? null : exactDecimal(text, XRP_DECIMALS)) ?? malformed(`${what} is no amount of XRP`, value);
}

/** `32570-6595042`, `5,10-20` or `empty`. Throws: MalformedReply. */
export function rangesIn(text: unknown): readonly LedgerRange[] {
  if (text === 'empty') return [];
  if (typeof text !== 'string') malformed('complete_ledgers is no text', text);
  return text.split(',').map((part) => {
    const [, first, last = first] =
      /^([0-9]{1,10})(?:-([0-9]{1,10}))?$/.exec(part.trim()) ?? malformed('complete_ledgers', text);
    return { first: Number(first), last: Number(last) };
  });
}

/** True when the ranges hold every height of [first, last]: one range must, since ranges of a server do not touch. */
export function holds(ranges: readonly LedgerRange[], first: number, last = first): boolean {
  return ranges.some((range) => range.first <= first && range.last >= last);
}
