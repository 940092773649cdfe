/** An attester of CCTP: fills the fields of a message that are its own, and signs. */
import { getBytes, hexlify, keccak256, SigningKey, toBeHex } from 'ethers';

/** Its key; stand-ins of the contracts know its address. */
export const ATTESTER = new SigningKey(`0x${'a7'.repeat(32)}`);

export interface Fills {
  readonly nonce?: bigint;
  readonly finality?: number;
  readonly fee?: bigint;
  readonly lastBlock?: bigint;
}

/** The message with the attester's fields, and its signature. */
export function attestedOf(burnt: string, { nonce = 77n, finality = 2_000, fee = 0n, lastBlock = 0n }: Fills = {}) {
  const bytes = getBytes(burnt);
  bytes.set(getBytes(toBeHex(nonce, 32)), 12);
  bytes.set(getBytes(toBeHex(finality, 4)), 144);
  bytes.set(getBytes(toBeHex(fee, 32)), 312);
  bytes.set(getBytes(toBeHex(lastBlock, 32)), 344);
  const message = hexlify(bytes);
  return { message, attestation: ATTESTER.sign(keccak256(message)).serialized };
}
