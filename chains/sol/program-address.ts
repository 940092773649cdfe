/**
 * Addresses that programs own: no key exists for them, because they are no points of the curve.
 *
 *   address = SHA-256(seed… || bump(1) || program(32) || "ProgramDerivedAddress"), the highest bump that is off curve
 *
 * Source: anza-xyz/solana-sdk `address/src/syscalls`, find_program_address.
 */
import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import { onCurve } from './address.ts';
import { ASSOCIATED_TOKEN_PROGRAM, type TokenProgram } from './programs.ts';

const MARKER = Buffer.from('ProgramDerivedAddress');
const BUMP_MAX = 255;

/** The address of a program for seeds of at most 32 bytes each. Throws: RangeError when no bump gives one. */
export function programAddress(program: string, seeds: readonly Uint8Array[]): string {
  const owner = base58.decode(program);
  for (let bump = BUMP_MAX; bump >= 0; bump -= 1) {
    const hash = createHash('sha256');
    for (const seed of seeds) hash.update(seed);
    const candidate = hash.update(Uint8Array.of(bump)).update(owner).update(MARKER).digest();
    if (!onCurve(candidate)) return base58.encode(candidate);
  }
  throw new RangeError('no bump gives an address of the program');
}

export interface AssociatedAccount {
  readonly owner: string;
  readonly mint: string;
  /** The program that owns the mint: a Token-2022 mint has another account than the classic program would give. */
  readonly program: TokenProgram;
}

/** The token account that wallets pay an owner at: seeds owner || token program || mint. Spec: chains.md 7.1. */
export function associatedTokenAddress({ owner, mint, program }: AssociatedAccount): string {
  return programAddress(
    ASSOCIATED_TOKEN_PROGRAM,
    [owner, program, mint].map((key) => base58.decode(key)),
  );
}
