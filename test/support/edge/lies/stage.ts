/**
 * What a family's signer is asked, and in how many ways a cloud can lie about it. A stage has the honest asks of a
 * family (one for each kind of instruction), the lies in its bytes, and earlier versions for the journal; the lies that
 * every family shares are in `everywhere.ts`.
 */
import type { Network, Token, Unsigned } from '../../../../chains/chain.ts';
import type { Instruction, Signer, SigningPolicy } from '../../../../edge/signing/signers/signer.ts';

/** One honest ask: the signer signs it. */
export interface Ask {
  readonly unsigned: Unsigned;
  readonly instruction: Instruction;
  readonly policy: SigningPolicy;
}

export interface Stage {
  readonly network: Network;
  readonly signer: Signer;
  /** By kind of instruction. */
  readonly asks: Readonly<Record<string, Ask>>;
  /** Addresses and a token that are not what was asked for. */
  readonly thief: string;
  readonly otherPath: string;
  readonly token: Token;
  /** Lies in the bytes, with a summary that goes along; null where a kind has no such field. */
  readonly lies: Readonly<Record<string, (ask: Ask) => Unsigned | null>>;
  /** Payloads that may have been signed before. */
  readonly earlier: Readonly<Record<string, (ask: Ask) => string | null>>;
}

export const NO_JOURNAL: SigningPolicy['journal'] = { forInstruction: [], withReplayKey: () => [] };
export const PHRASE = `${'abandon '.repeat(11)}about`;

/** To derive an address takes a millisecond, and each lie asks for it. */
export function remembering(derive: (path: string) => string | null): (path: string) => string | null {
  const known = new Map<string, string | null>();
  return (path) => {
    if (!known.has(path)) known.set(path, derive(path));
    return known.get(path) ?? null;
  };
}
