/**
 * Unsigned messages and their repricing. Pure: everything that had to be asked is in the inputs.
 *
 * Order of refusals (X1): what the intent says, what the accounts are, the asset, the fee, the rent, the caps.
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Intent, Network, ReplayKey, Unsigned } from '../chain.ts';
import { parseAddress } from './address.ts';
import {
  checkFeeCaps,
  computeOf,
  feeMaxOf,
  feeOf,
  feePartsOf,
  priceFor,
  type Compute,
  type Fee,
  type SolInputs,
} from './fee.ts';
import { solOf } from './network.ts';
import { encodePayment, type Payment } from './payment.ts';

/** The chain has no counters; two payments exclude each other by nothing but their own expiry. */
export function nextReplayValue(_inputs: SolInputs): null {
  return null;
}

type Wish = Pick<Intent, 'from' | 'fromPath' | 'to' | 'amount' | 'token' | 'leave'>;

/**
 * A payment as the bytes of a legacy message. Refuses: INVALID_INPUT, INVALID_ADDRESS, INVALID_AMOUNT, CHAIN_REJECTED,
 * INSUFFICIENT_FUNDS, INSUFFICIENT_GAS, INSUFFICIENT_RESERVE, AMOUNT_CAP_EXCEEDED.
 */
export function buildUnsigned(
  network: Network,
  inputs: SolInputs,
  intent: Intent,
  replay: ReplayKey | null,
): Unsigned | Refusal {
  if (intent.kind === 'trustline') return refuse('INVALID_INPUT', { reason: 'the chain has no trustlines' });
  if (intent.tag !== null) return refuse('INVALID_INPUT', { reason: 'the chain has no tags', tag: intent.tag });
  if (replay !== null) return refuse('INVALID_INPUT', { reason: 'the chain has no counters', kind: replay.kind });
  const fee = feeOf(inputs, intent.from, computeOf(solOf(network), inputs));
  return build(network, inputs, intent, fee, intent.maxFeeRatioBps);
}

function build(
  network: Network,
  inputs: SolInputs,
  wish: Wish,
  fee: Fee,
  ratioBpsMax: number | undefined,
): Unsigned | Refusal {
  const to = parseAddress(network, wish.to);
  if (!to.ok) return to;
  const isToken = wish.token !== null;
  const parties = checkParties(inputs, wish);
  if (parties !== null) return parties;
  const amount = amountOf(inputs, wish, fee);
  if (typeof amount !== 'bigint') return amount;
  const refusal =
    checkFunds(inputs, wish, amount, fee) ??
    checkRents(inputs, wish, amount, fee) ??
    checkSimulation(inputs) ??
    checkFeeCaps(network, feeMaxOf(fee), isToken ? null : amount, ratioBpsMax);
  return refusal ?? unsignedOf(network, inputs, wish, amount, fee);
}

/**
 * 7.1: what the accounts are, as they were read. A token account is nobody's address, not even for its own mint: it may
 * be a stranger's, an exchange credits wallets only, and the signer cannot distinguish it from a wallet. The refusal
 * names its owner.
 */
function checkParties(inputs: SolInputs, { from, to, token }: Wish): Refusal | null {
  const { destination, senderIsWallet, payerIsWallet, token: tokens } = inputs;
  const no = (reason: string) => refuse('INVALID_ADDRESS', { chain: 'sol', field: 'to', reason });
  if (to === from) return no('the sender itself');
  if (destination.kind === 'dead_end') return no(destination.what);
  if (destination.kind === 'token_account') {
    const reason =
      token === null || destination.mint === token.contract ? 'a token account' : 'a token account of another mint';
    return refuse('INVALID_ADDRESS', { chain: 'sol', field: 'to', reason, owner: destination.owner });
  }
  if (!senderIsWallet || !payerIsWallet) {
    return refuse('CHAIN_REJECTED', { reason: 'the sender or the payer is no plain wallet' });
  }
  if (tokens !== null && tokens.decimals !== token?.decimals) {
    const reason = 'the mint has other decimals than the registry';
    return refuse('CHAIN_REJECTED', { reason, decimals: tokens.decimals });
  }
  return tokens === null || tokens.refusal === null ? null : refuse('CHAIN_REJECTED', { reason: tokens.refusal });
}

/**
 * V36: a send-all leaves what the very fee that is signed costs, and what the caller keeps; a payer's fee is not ours.
 */
function amountOf(inputs: SolInputs, { from, amount, token, leave = 0n }: Wish, { fee }: Fee): bigint | Refusal {
  if (amount !== 'all') return amount > 0n ? amount : refuse('INVALID_AMOUNT', { amount: amount.toString() });
  const balance = BigInt(token === null ? (inputs.senderLamports ?? '0') : (inputs.token?.balance ?? '0'));
  if (balance === 0n) return refuse('INSUFFICIENT_FUNDS', { balance: '0', required: '1' });
  if (token !== null) return balance;
  const kept = leave + (inputs.feePayer === from ? fee : 0n);
  if (balance > kept) return balance - kept;
  return refuse('INSUFFICIENT_GAS', { balance: balance.toString(), required: (kept + 1n).toString() });
}

/** X1: the asset first, then the fee and the rent of a created account, which the payer bears. */
function checkFunds(inputs: SolInputs, { from, token }: Wish, amount: bigint, fee: Fee): Refusal | null {
  const sender = BigInt(inputs.senderLamports ?? '0');
  const asset = token === null ? sender : BigInt(inputs.token?.balance ?? '0');
  if (asset < amount) return refuse('INSUFFICIENT_FUNDS', { balance: asset.toString(), required: amount.toString() });
  const payer = BigInt(inputs.payerLamports ?? '0'),
    feeMax = feeMaxOf(fee);
  const required = feeMax + (token === null && inputs.feePayer === from ? amount : 0n);
  if (payer >= required) return null;
  return refuse('INSUFFICIENT_GAS', {
    balance: payer.toString(),
    required: required.toString(),
    feeMax: feeMax.toString(),
  });
}

/** L28: what every touched account holds afterwards is nothing, or at least the rent-exempt minimum. */
function checkRents(inputs: SolInputs, { from, token }: Wish, amount: bigint, fee: Fee): Refusal | null {
  const minimum = BigInt(inputs.rentExempt),
    native = token === null ? amount : 0n;
  const selfPaid = inputs.feePayer === from;
  const afterwards: readonly (readonly [who: string, lamports: bigint])[] = [
    ['sender', BigInt(inputs.senderLamports ?? '0') - native - (selfPaid ? feeMaxOf(fee) : 0n)],
    ...(selfPaid ? [] : [['payer', BigInt(inputs.payerLamports ?? '0') - feeMaxOf(fee)] as const]),
    ...(token === null ? [['destination', lamportsOf(inputs) + native] as const] : []),
  ];
  const short = afterwards.find(([, lamports]) => lamports > 0n && lamports < minimum);
  if (short === undefined) return null;
  const [account, left] = short;
  return refuse('INSUFFICIENT_RESERVE', { account, left: left.toString(), minimum: minimum.toString() });
}

function lamportsOf({ destination }: SolInputs): bigint {
  return destination.kind === 'wallet' ? BigInt(destination.lamports) : 0n;
}

function checkSimulation({ compute }: SolInputs): Refusal | null {
  return compute.kind === 'failed' ? refuse(compute.code, { reason: compute.reason }) : null;
}

/** The payment of a wish: from the accounts that were read, under the block hash that was read with them. */
export function plannedPayment(
  inputs: SolInputs,
  { from, to, token }: Pick<Intent, 'from' | 'to' | 'token'>,
  amount: bigint,
  compute: Compute,
): Payment {
  const { feePayer, blockhash, token: tokens } = inputs;
  return {
    feePayer,
    from,
    blockhash,
    ...compute,
    amount,
    asset:
      token === null || tokens === null
        ? { kind: 'native', to }
        : {
            kind: 'token',
            program: tokens.program,
            mint: token.contract,
            decimals: tokens.decimals,
            source: tokens.source,
            destination: tokens.destination,
            creates: tokens.createRent === null ? null : to,
          },
  };
}

function unsignedOf(network: Network, inputs: SolInputs, wish: Wish, amount: bigint, fee: Fee): Unsigned {
  const { from, fromPath, to, token } = wish;
  const payment = plannedPayment(inputs, wish, amount, fee.compute);
  return {
    chain: network.slug,
    payload: Buffer.from(encodePayment(payment)).toString('base64'),
    from,
    fromPath,
    to,
    amount,
    tokenContract: token?.contract ?? null,
    tag: null,
    kind: 'payment',
    sendAll: wish.amount === 'all',
    feeMax: feeMaxOf(fee),
    fee: feePartsOf(fee, inputs.feePayer),
    replayKey: { kind: 'expiry', value: String(inputs.lastValidBlockHeight) },
    readAtHeight: inputs.readAtHeight,
  };
}

/**
 * The same payment with a fresh block hash and price, once the old version can no longer land: two block hashes
 * exclude each other by nothing, so that both could be paid (L31, C6-56). The amount of a send-all goes down with the
 * fee, never up: what the fee has fallen by is paid all the same, because less than the rent-exempt minimum may not
 * stay behind.
 * Refuses: CONFLICT while the old version lives, and what a build refuses.
 */
export function reprice(network: Network, unsigned: Unsigned, inputs: SolInputs): Unsigned | Refusal {
  if (unsigned.replayKey.kind !== 'expiry') throw new Error('a Solana payment without an expiry');
  const { value: lastValidBlockHeight } = unsigned.replayKey,
    { finalizedBlockHeight } = inputs;
  if (finalizedBlockHeight <= Number(lastValidBlockHeight)) {
    return refuse('CONFLICT', { reason: 'the transaction may still land', lastValidBlockHeight, finalizedBlockHeight });
  }
  const { from, fromPath, to, amount, sendAll, tokenContract: contract } = unsigned;
  const token =
    contract === null ? null : { chain: network.slug, contract, symbol: '', decimals: inputs.token?.decimals ?? 0 };
  const market = computeOf(solOf(network), inputs);
  const wish: Wish = { from, fromPath, to, amount, token };
  if (!sendAll) return build(network, inputs, wish, feeOf(inputs, from, market), undefined);
  const fee = feeOf(inputs, from, token === null ? emptying(inputs, wish, amount, market) : market);
  const ownFee = inputs.feePayer === from ? fee.fee : 0n;
  const left = token === null ? BigInt(inputs.senderLamports ?? '0') - ownFee : amount;
  const rebuilt = build(network, inputs, { ...wish, amount: left < amount ? left : amount }, fee, undefined);
  return 'ok' in rebuilt ? rebuilt : { ...rebuilt, sendAll: true };
}

/** Limit and price at which the account is emptied by the old amount and the fee, where the market's fee is lower. */
function emptying(inputs: SolInputs, { from }: Wish, amount: bigint, market: Compute): Compute {
  if (inputs.feePayer !== from) return market;
  const rest = BigInt(inputs.senderLamports ?? '0') - amount - feeOf(inputs, from, market).fee;
  if (rest <= 0n || rest >= BigInt(inputs.rentExempt)) return market;
  const lamports = feeOf(inputs, from, market).fee + rest - BigInt(inputs.lamportsPerSignature);
  return { ...market, microLamportsPerUnit: priceFor(lamports, market.unitLimit) };
}
