/**
 * Fees of Solana payments. A fee is taken for the limit that is signed, not for what is used, so that every figure
 * here is exact: signatures × base fee + ceil(limit × price / 10^6), and the rent of a token account that is created
 * on the way. chains.md L27, L29.
 */
import { refuse, type ErrorCode, type Refusal } from '../../protocol/errors.ts';
import type { BuildInputs, FeeEstimate, Intent, Network } from '../chain.ts';
import { solOf, type SolNetwork } from './network.ts';
import { TOKEN_2022_PROGRAM, type TokenProgram } from './programs.ts';

/** What an account is to a payment. Amounts are decimal texts in lamports. */
export type Destination =
  | { readonly kind: 'absent' }
  /** A wallet, or a program's account that can hold SOL. */
  | { readonly kind: 'wallet'; readonly lamports: string }
  /** `owner` is the wallet that holds it. */
  | { readonly kind: 'token_account'; readonly mint: string; readonly owner: string }
  /** A mint, a program or a sysvar: what is sent there is gone. */
  | { readonly kind: 'dead_end'; readonly what: string };

/** The token side of a build. */
export interface TokenInputs {
  readonly program: TokenProgram;
  readonly decimals: number;
  readonly source: string;
  /** Null when the sender has no associated account. */
  readonly balance: string | null;
  readonly destination: string;
  /** Why these two accounts cannot take part in a transfer, or null. */
  readonly refusal: string | null;
  /** Rent of the destination account where this payment creates it, or null. */
  readonly createRent: string | null;
}

/** Everything that was asked for a build; amounts are decimal texts. */
export interface SolInputs extends BuildInputs {
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
  /** Block height at `finalized` when the inputs were read: what expired below it can no longer land. G27. */
  readonly finalizedBlockHeight: number;
  readonly lamportsPerSignature: string;
  /** Rent-exempt minimum of an account without data. L28. */
  readonly rentExempt: string;
  /** Null when the account does not exist. */
  readonly senderLamports: string | null;
  /** False where the sender is owned by a program or holds data: the System program then moves nothing out of it. */
  readonly senderIsWallet: boolean;
  readonly feePayer: string;
  readonly payerLamports: string | null;
  readonly payerIsWallet: boolean;
  readonly destination: Destination;
  readonly token: TokenInputs | null;
  /** Compute of the payment: of a plain transfer it is known, anything else is simulated. */
  readonly compute:
    | { readonly kind: 'plain' }
    | { readonly kind: 'simulated'; readonly units: number }
    | { readonly kind: 'failed'; readonly code: ErrorCode; readonly reason: string }
    /** Not simulated, because what was read refuses the payment already. */
    | { readonly kind: 'none' };
  /** 75th percentile of what recent blocks took for our writable accounts, micro-lamports per unit. */
  readonly unitPrice: string;
  /** In [0, 2^20): makes two equal payments of one block hash different transactions. L33. */
  readonly salt: number;
}

/** Compute of two budget instructions and a System transfer, 150 each. Source: `builtins-default-costs`. */
const PLAIN_TRANSFER_UNITS = 450;
/** Lowest limit: above what a plain transfer uses, so that the salt never starves it. L27. */
const UNIT_LIMIT_MIN = 600;
/** Used where nothing could be simulated: a token transfer, and one that creates the receiver's account. */
const TOKEN_TRANSFER_UNITS = 10_000;
const TOKEN_TRANSFER_CREATING_UNITS = 40_000;
/** Highest limit of one transaction. Source: anza-xyz/agave `compute-budget`, MAX_COMPUTE_UNIT_LIMIT. */
export const UNIT_LIMIT_MAX = 1_400_000;
const MICRO = 1_000_000n;
/** How many salts there are. L33. */
export const SALTS = 2 ** 20;
/** The salt's lower half goes into the price, its upper half into the limit: a few lamports at most. */
const SALT_HALF = 1_024;

/**
 * Rent of a token account, lamports, as an edge counts it at least: it is the chain's to lower, and in no byte. L29.
 *
 *   token        165 bytes
 *   token-2022   263 bytes: beside them the account type (1) and each extension that a mint makes its accounts have,
 *                with its header (4): immutable owner (0), non-transferable (0), pausable (0), transfer hook (1),
 *                transfer fee (8), confidential transfer fee (64)
 *
 * (128 + bytes) × 6,960. Source: token-2022 `extension/mod.rs`, solana `rent`.
 */
export const countedRent = (program: TokenProgram): bigint =>
  program === TOKEN_2022_PROGRAM ? 2_721_360n : 2_039_280n;

export interface Compute {
  readonly unitLimit: number;
  readonly microLamportsPerUnit: bigint;
}

/** Lamports that a limit costs at a price. */
export function priorityFeeOf({ unitLimit, microLamportsPerUnit }: Compute): bigint {
  return (BigInt(unitLimit) * microLamportsPerUnit + MICRO - 1n) / MICRO;
}

/** The highest price at which a limit costs no more than so many lamports; at that price it costs them exactly. */
export function priceFor(lamports: bigint, unitLimit: number): bigint {
  return (lamports * MICRO) / BigInt(unitLimit);
}

/**
 * Limit and price to sign: a fifth more than was simulated, the market's price within the network's bounds. L27, L33.
 */
export function computeOf(network: SolNetwork, { compute, token, unitPrice, salt }: SolInputs): Compute {
  const assumed =
    token === null
      ? PLAIN_TRANSFER_UNITS
      : token.createRent === null
        ? TOKEN_TRANSFER_UNITS
        : TOKEN_TRANSFER_CREATING_UNITS;
  const units = compute.kind === 'simulated' ? compute.units : assumed;
  const roomy = Math.max(UNIT_LIMIT_MIN, Math.ceil((units * 12) / 10)) + Math.floor(salt / SALT_HALF);
  const { floor, ceiling } = network.unitPrice,
    market = BigInt(unitPrice);
  const price = market < floor ? floor : market > ceiling ? ceiling : market;
  return { unitLimit: Math.min(UNIT_LIMIT_MAX, roomy), microLamportsPerUnit: price + BigInt(salt % SALT_HALF) };
}

export interface Fee {
  readonly compute: Compute;
  readonly signatures: number;
  /** Paid to the network, lamports. */
  readonly fee: bigint;
  /** Rent of a created token account, lamports. */
  readonly rent: bigint;
}

/** The fee of a payment at a limit and a price. */
export function feeOf(inputs: SolInputs, from: string, compute: Compute): Fee {
  const signatures = inputs.feePayer === from ? 1 : 2;
  const fee = BigInt(signatures) * BigInt(inputs.lamportsPerSignature) + priorityFeeOf(compute);
  return { compute, signatures, fee, rent: BigInt(inputs.token?.createRent ?? '0') };
}

/** What the fee can cost at most, lamports: nothing of it depends on the execution. */
export function feeMaxOf({ fee, rent }: Fee): bigint {
  return fee + rent;
}

/** The parts of a fee as JSON-safe values, for people; the edge holds the first four against the bytes. */
export function feePartsOf({ compute, signatures, fee, rent }: Fee, feePayer: string): Record<string, string | number> {
  const { unitLimit, microLamportsPerUnit } = compute;
  return {
    feePayer,
    signatures,
    unitLimit,
    microLamportsPerUnit: microLamportsPerUnit.toString(),
    feeLamports: fee.toString(),
    rentLamports: rent.toString(),
  };
}

/** The fee of an intent, lamports; L29: with the rent of an account that it creates. */
export function estimateFee(network: Network, inputs: SolInputs, intent: Intent): FeeEstimate | Refusal {
  const fee = feeOf(inputs, intent.from, computeOf(solOf(network), inputs));
  return { fee: feeMaxOf(fee), feeMax: feeMaxOf(fee), parts: feePartsOf(fee, inputs.feePayer) };
}

/**
 * G29: the absolute cap of the network, and the share of the amount that the caller allows. Refuses:
 * AMOUNT_CAP_EXCEEDED.
 */
export function checkFeeCaps(
  { feeCap }: Network,
  feeMax: bigint,
  amount: bigint | null,
  ratioBpsMax: number | undefined,
): Refusal | null {
  if (feeMax > feeCap) {
    return refuse('AMOUNT_CAP_EXCEEDED', { reason: 'fee cap', feeMax: feeMax.toString(), feeCap: feeCap.toString() });
  }
  if (amount !== null && ratioBpsMax !== undefined && feeMax * 10_000n > amount * BigInt(ratioBpsMax)) {
    const details = { feeMax: feeMax.toString(), amount: amount.toString(), ratioBpsMax };
    return refuse('AMOUNT_CAP_EXCEEDED', { reason: 'fee ratio', ...details });
  }
  return null;
}
