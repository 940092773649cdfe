/** The attestation service of a bridge. What it says is never believed: it is compared. Treasury H6–H8. */
export type Attestation =
  | { readonly kind: 'attested'; readonly message: string; readonly attestation: string }
  /** Not yet: unknown, pending, or no answer. */
  | { readonly kind: 'not_yet'; readonly reason: string }
  /** It wants to be left alone for so long. */
  | { readonly kind: 'silence'; readonly untilMs: number };

export interface Attesters {
  /** What is said of a transaction that burnt on a domain. */
  attestationOf(domain: number, txid: string): Promise<Attestation>;
  /** The fee of a transfer that waits for finality, smallest unit, rounded up; null where it cannot be read. */
  feeOf(fromDomain: number, toDomain: number, amount: bigint): Promise<bigint | null>;
}
