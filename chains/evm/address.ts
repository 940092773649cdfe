/**
 * EVM addresses: 20 bytes, shown in the mixed case of EIP-55. Matching is on bytes, storing and comparing on the
 * EIP-55 text (G6). Source: EIP-55.
 */
import { keccak256 } from '../keccak.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { MalformedReply, type Catalogue, type Network, type ParsedAddress } from '../chain.ts';

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

const scratch = Buffer.alloc(40);

/** EIP-55 text of 40 lower-case hex digits: a letter is upper where the digest's nibble at its place is 8 or more. */
export function checksummed(lowerHex: string): string {
  scratch.write(lowerHex, 0, 40, 'latin1');
  const digest = keccak256(scratch);
  for (let i = 0; i < 40; i++) {
    const letter = scratch[i]!;
    if (letter < 0x61) continue;
    const byte = digest[i >> 1]!;
    if (((i & 1) === 0 ? byte >> 4 : byte & 0x0f) >= 8) scratch[i] = letter - 32;
  }
  return `0x${scratch.toString('latin1')}`;
}

const ADDRESS_HEX = /^(?:0x(?:[0-9a-f]{24})?)?[0-9a-f]{40}$/i;

/**
 * EIP-55 text of the address in the last 40 digits of a hex text: an address, with `0x` or bare, or a log topic.
 * Throws: MalformedReply for any other text, which would name somebody else.
 */
export function addressOfHex(hex: string): string {
  if (!ADDRESS_HEX.test(hex)) throw new MalformedReply('address', hex);
  return checksummed(hex.slice(-40).toLowerCase());
}

/** The 20 bytes of a canonical text, unchecked. */
export function bytesOf(canonical: string): Uint8Array {
  return Buffer.from(canonical.slice(2), 'hex');
}

/**
 * An address of one case, or of mixed case with the right EIP-55 checksum. Refuses: INVALID_ADDRESS; a wrong checksum
 * has `details.reason` `checksum` and the `canonical` text, which an import file may still use with a warning.
 */
export function parseAddress(_network: Network, text: string): ParsedAddress | Refusal {
  if (!ADDRESS.test(text)) {
    return refuse('INVALID_ADDRESS', { address: text.slice(0, 100), reason: 'expected 0x and 40 hex digits' });
  }
  const digits = text.slice(2),
    lower = digits.toLowerCase();
  const canonical = checksummed(lower);
  if (digits !== lower && digits !== digits.toUpperCase() && text !== canonical) {
    return refuse('INVALID_ADDRESS', { address: text, reason: 'checksum', canonical });
  }
  return { ok: true, canonical, kind: 'eoa', bytes: Buffer.from(lower, 'hex'), tag: null };
}

/**
 * Numbers whose 20-byte form nobody owns. Source: EIP-1352 and the forks up to Osaka; RIP-7212; customary burn
 * address.
 */
const RESERVED = [0n, ...Array.from({ length: 17 }, (_, i) => BigInt(i + 1)), 0x100n, 0xdeadn];
/** Emitters of native transfer logs: bor's 0x1010 and EIP-7708's system address. V8. */
const SYSTEM = [0x1010n, 0xfffffffffffffffffffffffffffffffffffffffen];

const addressOfNumber = (number: bigint) => addressOfHex(number.toString(16).padStart(40, '0'));

const refusedTexts = new Map<string, string>([
  ...RESERVED.map((number) => [addressOfNumber(number), 'burn address or precompile'] as const),
  ...SYSTEM.map((number) => [addressOfNumber(number), 'system contract'] as const),
]);

/** Refuses: INVALID_ADDRESS for what nobody can spend from, and for token contracts of the catalogue. chains.md 5.1. */
export function checkDestination(_network: Network, address: ParsedAddress, catalogue: Catalogue): Refusal | null {
  const { canonical } = address;
  const reason = refusedTexts.get(canonical) ?? (catalogue.has(canonical) ? 'token contract' : undefined);
  return reason === undefined ? null : refuse('INVALID_ADDRESS', { address: canonical, reason });
}

/**
 * EIP-55 text of a token contract. Refuses: TOKEN_NOT_SUPPORTED for what is no address, and for native log emitters.
 */
export function parseToken(network: Network, text: string): string | Refusal {
  const parsed = parseAddress(network, text);
  if (!parsed.ok || refusedTexts.has(parsed.canonical)) {
    return refuse('TOKEN_NOT_SUPPORTED', { tokenContract: text.slice(0, 100) });
  }
  return parsed.canonical;
}
