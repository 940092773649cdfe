/** Keys of the stand-in's own people: who holds all XRP at first, payers and issuers. */
import { createHash } from 'node:crypto';
import { ECDSA, encodeAccountID, Wallet } from 'xrpl';

/** Holds every drop of a new network; its phrase is public. Source: xrpl.org "Genesis ledger". */
export const GENESIS = Wallet.fromSeed('snoPBrXtMeMyMHUVTgbuqAfg1SUTb', { algorithm: ECDSA.secp256k1 });

/** A wallet for a name, the same one every time. */
export function walletOf(name: string): Wallet {
  return Wallet.fromEntropy(createHash('sha256').update(`flock stand-in ${name}`).digest().subarray(0, 16), {
    algorithm: ECDSA.secp256k1,
  });
}

/** The classic address of a public key, hex. */
export function addressOfKey(publicKey: string): string {
  const inner = createHash('sha256').update(Buffer.from(publicKey, 'hex')).digest();
  return encodeAccountID(createHash('ripemd160').update(inner).digest());
}
