/**
 * What the page of a payment shows, in words: the server renders it, and the page's script asks for it again and puts
 * it in place. Parts are shown or hidden; nothing is computed in the browser. payments H2–H9.
 */
import { evmOf } from '../../../chains/evm/network.ts';
import { networkOf } from '../../../chains/registry.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { parseDecimal } from '../../../protocol/money.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { FAMILY_OF, type Environment } from '../../../protocol/slugs.ts';
import type { Say } from './words.ts';
import { shown } from './html.ts';
import { qrOf } from './qr.ts';

export type Session = ReplyOf<'getCheckoutSession'>;

/** Parts of the page, each shown or hidden. */
export const PARTS = [
  'ask',
  'sum',
  'wallet',
  'wallets',
  'time',
  'wait',
  'transfers',
  'notices',
  'shop',
  'renew',
  'help',
  'copyAmount',
] as const;
export type Part = (typeof PARTS)[number];

/** `eth_sendTransaction` without its sender, and the chain that it is for. EIP-1193, EIP-3326. */
export interface Call {
  readonly chainId: string;
  readonly to: string;
  readonly value: string;
  readonly data?: string;
}

/** `transfer(address,uint256)`. */
const TRANSFER = '0xa9059cbb';
const hex = (value: bigint | number): string => `0x${value.toString(16)}`;
const word = (digits: string): string => digits.padStart(64, '0');

/** H10. Null outside of the EVM networks. */
function callOf({ chain, address, tokenContract, decimals }: Session, text: string): Call | null {
  const amount = text === '' || FAMILY_OF[chain] !== 'evm' ? null : parseDecimal(text, decimals);
  if (amount === null || isRefusal(amount) || amount === 0n) return null;
  const chainId = hex(evmOf(networkOf(chain)).chainId);
  if (tokenContract === null) return { chainId, to: address, value: hex(amount) };
  const payee = word(address.slice(2).toLowerCase());
  return { chainId, to: tokenContract, value: '0x0', data: `${TRANSFER}${payee}${word(amount.toString(16))}` };
}

export interface Model {
  readonly status: Session['status'];
  readonly state: string;
  readonly help: string;
  readonly send: string;
  readonly amount: string;
  readonly parts: readonly Part[];
  readonly transfers: readonly { readonly text: string; readonly href: string | null }[];
  readonly notices: readonly string[];
  readonly qr: { readonly size: number; readonly path: string };
  readonly uri: string | null;
  /** What a wallet of the browser is asked to send; null where there is none, or no amount. payments H10. */
  readonly call: Call | null;
  readonly shop: string | null;
  /** Milliseconds from now; null where nothing ends. */
  readonly endsInMs: number | null;
  /** Whether anything may still change. */
  readonly live: boolean;
}

/** H4: capitals in the code alone, where they make it smaller; a token's code is its address and nothing else. */
export function qrTextOf({ uri, address }: Pick<Session, 'uri' | 'address'>): string {
  if (uri === null) return address;
  const [, scheme, bech32, rest] = /^(bitcoin):([^?]+)(.*)$/.exec(uri) ?? [];
  if (scheme === undefined || bech32 === undefined || bech32 !== bech32.toLowerCase()) return uri;
  return `${scheme.toUpperCase()}:${bech32.toUpperCase()}${rest}`;
}

const STATES = {
  awaiting_payment: 'awaiting',
  detected: 'detected',
  underpaid: 'underpaid',
  confirmed: 'confirmed',
  late: 'late',
  expired: 'expired',
} as const;

/** In a sandbox no wallet is asked: its money is real. */
export function modelOf(session: Session, say: Say, environment: Environment): Model {
  const { status, asset, network, transfers, notices, uri } = session;
  const asks = status === 'awaiting_payment' || status === 'underpaid',
    amount = status === 'underpaid' ? session.amountRemaining : (session.amount ?? '');
  const call = asks && environment === 'live' ? callOf(session, amount) : null;
  const endsInMs =
    session.expiresAt === null || session.paymentId === null || status !== 'awaiting_payment'
      ? null
      : Math.max(0, Date.parse(session.expiresAt) - Date.parse(session.serverTime));
  const moving = transfers.some((one) => one.status === 'detected');
  const parts: Record<Part, boolean> = {
    ask: asks,
    sum: !asks,
    wallet: asks && uri !== null,
    wallets: call !== null,
    time: endsInMs !== null,
    wait: asks && session.chain === 'btc',
    transfers: transfers.length > 0,
    notices: noticesOf(session, say).length > 0,
    shop: session.successUrl !== null,
    renew: status === 'expired',
    help: status === 'expired' || status === 'late' || asks,
    copyAmount: asks && amount !== '',
  };
  return {
    status,
    state: say(STATES[status]),
    help: say(status === 'late' ? 'lateHelp' : status === 'expired' ? 'expiredHelp' : 'mayClose'),
    send:
      amount === ''
        ? say('sendOnly', { asset, network })
        : say(status === 'underpaid' ? 'sendRest' : 'sendExactly', { amount, asset }),
    amount,
    parts: PARTS.filter((part) => parts[part]),
    transfers: transfers.map(({ amount: of, confirmations, threshold, explorerUrl, status: its }) => ({
      text: `${of} ${shown(asset)} · ${
        its === 'reversed'
          ? say('reversed')
          : say('confirmations', { n: String(Math.min(confirmations, threshold)), threshold: String(threshold) })
      }`,
      href: explorerUrl,
    })),
    notices: noticesOf(session, say),
    qr: qrOf(qrTextOf(session)),
    uri,
    call,
    shop: session.successUrl,
    endsInMs,
    live: asks || moving || status === 'detected' || notices.length > 0,
  };
}

function noticesOf({ notices, amountOverpaid, asset, link }: Session, say: Say): string[] {
  const strayed = notices.map(({ reason, amount, asset: other }) =>
    say(reason === 'wrong_asset' ? 'wrongAsset' : 'wrongNetwork', { amount, asset: other }),
  );
  const over = link.mode === 'fixed' && amountOverpaid !== '0';
  return over ? [...strayed, say('overpaid', { amount: amountOverpaid, asset })] : strayed;
}
