/**
 * Circle's CCTP v2: the calls that burn on one chain and mint on another, and the message between them. Pure. Sources:
 * circlefin/evm-cctp-contracts (`TokenMessengerV2`, `MessageTransmitterV2`, `MessageV2`, `BurnMessageV2`),
 * developers.circle.com/cctp/references/contract-addresses. Treasury H6, H7, H10.
 *
 * A message, in bytes. The burn leaves the fields with a star empty, and the attester fills them:
 *
 *     0  version               4    source domain            8  destination domain    12 *nonce
 *    44  sender               76    recipient              108  destination caller   140  least finality
 *   144 *finality            148    body version           152  burnt token          184  mint recipient
 *   216  amount              248    sender of the burn     280  highest fee          312 *fee
 *   344 *last block          376    hook, which is empty here
 */
import type { Chain } from '../../protocol/slugs.ts';
import type { ContractLog } from '../contract-call.ts';
import { decodeWord } from './abi.ts';
import { addressOfHex } from './address.ts';
import { word } from './quantity.ts';
import { TRANSFER_TOPIC } from './transfers.ts';

/** The same on all four chains. */
export const TOKEN_MESSENGER = addressOfHex('28b5a0e9c621a5badaa536219b3a228c8168cf5d');
export const MESSAGE_TRANSMITTER = addressOfHex('81d40f21f12a8f0e3252bccb954d722d4c464b64');

/** Domains, and how long an attestation of a final burn typically takes, seconds. */
export const CCTP_CHAINS: Readonly<Partial<Record<Chain, { readonly domain: number; readonly seconds: number }>>> = {
  eth: { domain: 0, seconds: 1_140 },
  avax: { domain: 1, seconds: 8 },
  base: { domain: 6, seconds: 1_140 },
  polygon: { domain: 7, seconds: 120 },
};

export const BRIDGED_SYMBOL = 'USDC';
/** Most that one burn moves: 10,000,000 USDC. */
export const BURN_MAX = 10_000_000_000_000n;
/** Only what is final on the source chain is attested. */
export const FINALIZED = 2_000;
/** Of message and body. */
const VERSION = 1;

const APPROVE = '095ea7b3'; // approve(address,uint256)
const DEPOSIT_FOR_BURN = '8e0250ee'; // depositForBurn(uint256,uint32,bytes32,address,bytes32,uint256,uint32)
const RECEIVE_MESSAGE = '57ecfd28'; // receiveMessage(bytes,bytes)
const USED_NONCES = 'feb61724'; // usedNonces(bytes32)
const MIN_FEE = '516990e3'; // getMinFeeAmount(uint256)

const addressWord = (address: string): string => address.slice(2).toLowerCase().padStart(64, '0');
const NOTHING = '0'.repeat(64);
const uint32 = (value: number): string => value.toString(16).padStart(8, '0');

/** Call data of `usedNonces(nonce)`: one once a message was received under it. */
export function encodeUsedNonce(nonce: string): string {
  return `0x${USED_NONCES}${nonce.slice(2)}`;
}

/** What a burn says of itself, all of it known before it is signed. */
export interface Burn {
  readonly from: Chain;
  readonly to: Chain;
  /** USDC of the source chain. */
  readonly token: string;
  /** Who burns. */
  readonly sender: string;
  /** Who is minted to. */
  readonly recipient: string;
  readonly amount: bigint;
  readonly maxFee: bigint;
}

/** The domain of a chain. Throws: Error for a chain that has none; a route to it is not open. */
export function domainOf(chain: Chain): number {
  const known = CCTP_CHAINS[chain];
  if (known === undefined) throw new Error(`CCTP is not on ${chain}`);
  return known.domain;
}

/** Call data of `approve(TokenMessengerV2, amount)`: exactly what is burnt next. */
export function encodeApprove(amount: bigint): string {
  return `0x${APPROVE}${addressWord(TOKEN_MESSENGER)}${word(amount)}`;
}

/** Call data of the burn: anybody may mint it, to the recipient alone, once it is final, without a hook. */
export function encodeBurn({ to, token, recipient, amount, maxFee }: Burn): string {
  const words = [
    word(amount),
    word(BigInt(domainOf(to))),
    addressWord(recipient),
    addressWord(token),
    NOTHING,
    word(maxFee),
    word(BigInt(FINALIZED)),
  ];
  return `0x${DEPOSIT_FOR_BURN}${words.join('')}`;
}

/** Call data of `receiveMessage(message, attestation)`; both as hex with 0x. */
export function encodeMint(message: string, attestation: string): string {
  const parts = [message, attestation].map((text) => bytesOf(text));
  const offsets = [word(64n), word(BigInt(64 + parts[0]!.length / 2))];
  return `0x${RECEIVE_MESSAGE}${offsets.join('')}${parts.join('')}`;
}

/** A value of type `bytes`: its length, and its content up to a whole word. */
function bytesOf(hex: string): string {
  const content = hex.slice(2),
    padded = content.padEnd(Math.ceil(content.length / 64) * 64, '0');
  return `${word(BigInt(content.length / 2))}${padded}`;
}

/** Call data of `getMinFeeAmount(amount)`. */
export function encodeMinFee(amount: bigint): string {
  return `0x${MIN_FEE}${word(amount)}`;
}

/** The message of a burn as its own transaction emits it: what the attester fills is empty. */
export function messageOf(burn: Burn): string {
  const messenger = addressWord(TOKEN_MESSENGER);
  return [
    '0x',
    uint32(VERSION),
    uint32(domainOf(burn.from)),
    uint32(domainOf(burn.to)),
    NOTHING,
    messenger,
    messenger,
    NOTHING,
    uint32(FINALIZED),
    uint32(0),
    uint32(VERSION),
    addressWord(burn.token),
    addressWord(burn.recipient),
    word(burn.amount),
    addressWord(burn.sender),
    word(burn.maxFee),
    NOTHING,
    NOTHING,
  ].join('');
}

/** First byte and length of what the attester fills. Treasury H7. */
const NONCE = { at: 12, bytes: 32 },
  FINALITY = { at: 144, bytes: 4 },
  FEE = { at: 312, bytes: 32 },
  LAST_BLOCK = { at: 344, bytes: 32 };
export const ATTESTED_FIELDS = [NONCE, FINALITY, FEE, LAST_BLOCK] as const;
/** Bytes of a message without a hook. */
export const MESSAGE_BYTES = 376;
const SIGNATURE_BYTES = 65;
/** Attesters that may sign a message; there are two. */
export const SIGNATURES_MAX = 16;

const fieldOf = (message: string, { at, bytes }: { readonly at: number; readonly bytes: number }): string =>
  message.slice(2 + 2 * at, 2 + 2 * (at + bytes));

/** The message with nothing in what the attester fills. */
const emptied = (message: string): string =>
  ATTESTED_FIELDS.reduce(
    (text, { at, bytes }) => `${text.slice(0, 2 + 2 * at)}${'0'.repeat(2 * bytes)}${text.slice(2 + 2 * (at + bytes))}`,
    message,
  );

/** What an attester said of a burn. */
export interface Attested {
  readonly message: string;
  readonly attestation: string;
}

/** Why what is attested is not to be minted. */
export type MessageFlaw = 'not_hex' | 'length' | 'differs' | 'no_nonce' | 'finality' | 'fee' | 'attestation';

const HEX = /^0x(?:[0-9a-f]{2})*$/;

/**
 * Whether what is attested is the message of the burn: byte for byte but for what the attester fills, with a nonce,
 * final, and at no higher fee than the burn allows. Null: it is. Treasury H7.
 */
export function flawOf(burnt: string, { message, attestation }: Attested): MessageFlaw | null {
  if (!HEX.test(message) || !HEX.test(attestation)) return 'not_hex';
  if (message.length !== burnt.length || burnt.length !== 2 + 2 * MESSAGE_BYTES) return 'length';
  if (emptied(message) !== burnt) return 'differs';
  if (nonceOf(message) === `0x${NOTHING}`) return 'no_nonce';
  if (Number.parseInt(fieldOf(message, FINALITY), 16) < FINALIZED) return 'finality';
  if (feeIn(message) > BigInt(`0x${fieldOf(message, { at: 280, bytes: 32 })}`)) return 'fee';
  const signatures = (attestation.length - 2) / (2 * SIGNATURE_BYTES);
  return Number.isInteger(signatures) && signatures >= 1 && signatures <= SIGNATURES_MAX ? null : 'attestation';
}

/** The number that the attester gave a message: it is minted once under it. */
export const nonceOf = (message: string): string => `0x${fieldOf(message, NONCE)}`;
/** What the mint keeps, smallest unit. */
export const feeIn = (message: string): bigint => BigInt(`0x${fieldOf(message, FEE)}`);
/** The most that it may keep, as the burn said. */
export const maxFeeIn = (message: string): bigint => BigInt(`0x${fieldOf(message, { at: 280, bytes: 32 })}`);
/** What was burnt. */
export const amountIn = (message: string): bigint => BigInt(`0x${fieldOf(message, { at: 216, bytes: 32 })}`);

/** keccak(MessageSent(bytes)). */
export const MESSAGE_SENT = '0x8c5261668696ce22758910d05bab8f186d6eb247ceac2af2e82c7dc17669b036';
/** keccak(MessageReceived(address,uint32,bytes32,bytes32,uint32,bytes)); its second topic after it is the nonce. */
export const MESSAGE_RECEIVED = '0xff48c13eda96b1cceacc6b9edeedc9e9db9d6226afbc30146b720c19d3addb1c';

/** The message in the data of a `MessageSent`; null for other data. */
export function messageIn(data: string): string | null {
  if (!HEX.test(data) || data.length < 2 + 128) return null;
  const offset = BigInt(`0x${data.slice(2, 66)}`),
    length = BigInt(`0x${data.slice(66, 130)}`);
  if (offset !== 32n || length > BigInt((data.length - 130) / 2)) return null;
  return `0x${data.slice(130, 130 + 2 * Number(length))}`;
}

/** What was minted to a recipient, by the logs of a transaction: a transfer of the token from nobody. Null for none. */
export function mintedIn(logs: readonly ContractLog[], token: string, recipient: string): bigint | null {
  const minted = logs.find(
    ({ address, topics }) =>
      address === token.toLowerCase() &&
      topics[0] === TRANSFER_TOPIC &&
      topics[1] === `0x${NOTHING}` &&
      topics[2] === `0x${addressWord(recipient)}`,
  );
  return minted === undefined ? null : decodeWord(minted.data);
}

/** The messages that a transaction sent: what the transmitter itself emitted. */
export function messagesIn(logs: readonly ContractLog[]): string[] {
  return logs
    .filter(({ address, topics }) => address === MESSAGE_TRANSMITTER.toLowerCase() && topics[0] === MESSAGE_SENT)
    .flatMap(({ data }) => messageIn(data) ?? []);
}
