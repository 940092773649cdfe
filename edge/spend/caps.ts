/**
 * What is spent and how much may be, in the smallest native unit, over a rolling window. Decisions 3 and 6.
 *
 *   cloud       what the cloud can start and what can be lost by it (fundings, and the fees of sweeps):
 *               EDGE_SPEND_CAP_<CHAIN>, default zero; beside it FUNDINGS_MAX fundings of one address
 *   withdrawal  what a holder of a local key asked for: EDGE_WITHDRAWAL_CAP_<CHAIN>, unbounded when unset
 *   burns       of bridges, beside their fee: EDGE_BRIDGE_CAP_<CHAIN>, in the token's own unit, default zero
 *   tokens that a withdrawal moves, beside its fee: EDGE_WITHDRAWAL_TOKEN_CAPS_<CHAIN>, in the token's own unit
 *
 * A native transfer spends amount + highest fee, a token transfer its highest fee, a sweep its highest fee alone (what
 * it moves stays the company's); of a part of the fee that is in no byte at least what the network is known to take.
 */
import type { Unsigned } from '../../chains/chain.ts';
import { issuedAmountOf } from '../../chains/xrp/currency.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { refuseToSign, type Signer } from '../signing/signers/signer.ts';

export type SpendPurpose = 'cloud' | 'withdrawal';

/** Smallest units of a token, by its canonical contract; of a funding one, by the address that gets it. */
export interface TokenSpend {
  readonly contract: string;
  readonly amount: bigint;
}

export interface Spend {
  /**
   * What the spend is for: SHA-256 of the instruction. Its versions exclude each other and are counted once, at the
   * dearest.
   */
  readonly subject: string;
  readonly chain: Chain;
  readonly purpose: SpendPurpose;
  readonly amount: bigint;
  /** The token that it moves, where a cap can bound it; counted with the spend or not at all. */
  readonly token?: TokenSpend | null;
  /** Keys of which two signatures for the subject must share one; see payments.ts `exclusiveKeys`. */
  readonly exclusive?: readonly string[];
  /**
   * SHA-256 of the payload. All that were counted are kept, so that a replica knows whether it has every version.
   */
  readonly version?: string;
  /** The id that the cloud gave it; defaults to the subject. */
  readonly transactionId?: string;
  readonly sender?: string;
  /** Equal for two subjects that are one payment; null or absent where it pays nobody. */
  readonly payment?: string | null;
  readonly counter?: bigint | null;
  /** Instant after which this version cannot land, and the wall clock now; null: it never expires. */
  readonly deadAtMs?: number | null;
  readonly wallMs?: number;
}

export interface SpendCaps {
  readonly spendCaps: ReadonlyMap<Chain, bigint>;
  readonly withdrawalCaps: ReadonlyMap<Chain, bigint>;
  readonly tokenCaps?: ReadonlyMap<Chain, ReadonlyMap<string, bigint>>;
  readonly bridgeCaps?: ReadonlyMap<Chain, bigint>;
  readonly spendWindowMs: number;
}

/**
 * Highest cost of a payload, smallest native unit. `check` compared amount and fee with the bytes; for a part of the
 * fee that is in no byte the signer knows the least.
 */
export function spendOf(
  unsigned: Unsigned,
  { feeFloor }: Pick<Signer, 'feeFloor'>,
  { isSweep = false }: { readonly isSweep?: boolean } = {},
): bigint {
  const { feeMax, tokenContract, kind, amount } = unsigned,
    least = feeFloor?.(unsigned, { isSweep }) ?? 0n;
  const isLeaving = tokenContract === null && kind === 'payment' && !isSweep;
  return (feeMax < least ? least : feeMax) + (isLeaving ? amount : 0n);
}

/** Fundings of one address within a window: a job needs one, and a top-up where the market rose. Treasury E2. */
export const FUNDINGS_MAX = 4n;
const FUNDING = 'funding of ';

/** Counts one funding of an address beside its cost. */
export const fundingOf = (address: string): TokenSpend => ({ contract: `${FUNDING}${address}`, amount: 1n });

const BURN = 'burn of ';

/** Counts what a bridge burns beside its fee. Treasury E4. */
export const burnOf = (contract: string, amount: bigint): TokenSpend => ({ contract: `${BURN}${contract}`, amount });

/** Null: unbounded. */
export function capOf(
  { spendCaps, withdrawalCaps }: SpendCaps,
  { chain, purpose }: Pick<Spend, 'chain' | 'purpose'>,
): bigint | null {
  return purpose === 'cloud' ? (spendCaps.get(chain) ?? 0n) : (withdrawalCaps.get(chain) ?? null);
}

/**
 * The token that a withdrawal moves, at the most that may leave: an issuer on xrp may keep a share of it. Null where it
 * moves none. No cap bounds a sweep's token. `check` compared that part of the fee with the bytes on xrp; on another
 * chain a part of this name is the cloud's word, which would use a cap up that nothing was spent of.
 */
export function tokenOf(
  purpose: SpendPurpose,
  { chain, tokenContract, kind, amount, fee }: Pick<Unsigned, 'chain' | 'tokenContract' | 'kind' | 'amount' | 'fee'>,
): TokenSpend | null {
  if (tokenContract === null || kind !== 'payment' || purpose !== 'withdrawal') return null;
  const most = (chain === 'xrp' ? issuedAmountOf(fee['sendMax']) : null) ?? amount;
  return { contract: tokenContract, amount: most > amount ? most : amount };
}

/**
 * Null: unbounded. Where a native cap bounds withdrawals, a token without a cap of its own is refused.
 */
export function tokenCapOf(
  { tokenCaps, withdrawalCaps, bridgeCaps }: SpendCaps,
  chain: Chain,
  { contract }: Pick<TokenSpend, 'contract'>,
): bigint | null {
  if (contract.startsWith(FUNDING)) return FUNDINGS_MAX;
  if (contract.startsWith(BURN)) return bridgeCaps?.get(chain) ?? 0n;
  return tokenCaps?.get(chain)?.get(contract) ?? (withdrawalCaps.has(chain) ? 0n : null);
}

/** The unit under which a token is summed, and the row that counts it beside the spend. */
export const tokenUnit = (chain: Chain, { contract }: Pick<TokenSpend, 'contract'>): string => `${chain} ${contract}`;
export const tokenSubject = (subject: string): string => `${subject}/token`;

const NEXT =
  'wait until earlier spends leave the window, or raise the setting on every replica; nothing was signed now';

function overFundings(value: bigint, { spendWindowMs }: SpendCaps): Refusal {
  const refusal = refuseToSign('funding_count'),
    bound = FUNDINGS_MAX.toString();
  return {
    ...refusal,
    details: { ...refusal.details, bound, value: value.toString(), windowSeconds: spendWindowMs / 1_000 },
  };
}

/** AMOUNT_CAP_EXCEEDED for the token of a spend, SIGNED_BATCH_REJECTED for one funding too many of an address. */
export function overTokenCap(
  { chain }: Pick<Spend, 'chain'>,
  token: TokenSpend,
  caps: SpendCaps,
  spent: bigint,
): Refusal {
  if (token.contract.startsWith(FUNDING)) return overFundings(spent + token.amount, caps);
  const isBurn = token.contract.startsWith(BURN);
  return refuse('AMOUNT_CAP_EXCEEDED', {
    chain,
    tokenContract: isBurn ? token.contract.slice(BURN.length) : token.contract,
    cap: String(tokenCapOf(caps, chain, token)),
    spent: spent.toString(),
    amount: token.amount.toString(),
    setting: `${isBurn ? 'EDGE_BRIDGE_CAP' : 'EDGE_WITHDRAWAL_TOKEN_CAPS'}_${chain.toUpperCase()}`,
    windowSeconds: caps.spendWindowMs / 1_000,
    next: NEXT,
  });
}

/** AMOUNT_CAP_EXCEEDED, with what was spent within the window. */
export function overCap(spend: Spend, caps: SpendCaps, spent: bigint): Refusal {
  return refuse('AMOUNT_CAP_EXCEEDED', {
    chain: spend.chain,
    cap: String(capOf(caps, spend)),
    spent: spent.toString(),
    amount: spend.amount.toString(),
    setting: `${spend.purpose === 'cloud' ? 'EDGE_SPEND_CAP' : 'EDGE_WITHDRAWAL_CAP'}_${spend.chain.toUpperCase()}`,
    windowSeconds: caps.spendWindowMs / 1_000,
    next: NEXT,
  });
}
