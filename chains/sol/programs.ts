/**
 * Programs that payments of ours call, and nothing else does. Source: anza-xyz/solana-sdk `sdk-ids`, solana-program.
 */

export const SYSTEM_PROGRAM = '11111111111111111111111111111111';
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
/** Metaplex: where the names of most classic mints are written. */
export const METADATA_PROGRAM = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s';

/** Programs that may own a mint and its token accounts. */
export type TokenProgram = typeof TOKEN_PROGRAM | typeof TOKEN_2022_PROGRAM;

/** True for the two programs that keep tokens. */
export function isTokenProgram(program: string): program is TokenProgram {
  return program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM;
}
