/** Whether signed bytes are the payload that was built. Recovering the sender needs no key. */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Network, Signed, Unsigned } from '../chain.ts';
import { decodeSigned, encodeUnsigned, txidOf } from './envelope.ts';
import { evmOf } from './network.ts';

/**
 * Null for the very payload, signed by `from`, under the hash of the signed bytes (G28). Refuses:
 * SIGNED_BATCH_REJECTED.
 */
export function matchSigned(network: Network, unsigned: Unsigned, signed: Signed): Refusal | null {
  const no = (reason: string) => refuse('SIGNED_BATCH_REJECTED', { reason, chain: network.slug });
  if (signed.chain !== network.slug || unsigned.chain !== network.slug) return no('chain_mismatch');
  const decoded = decodeSigned(signed.payload);
  if (!decoded.ok) return no(decoded.reason);
  if (decoded.transaction.chainId !== evmOf(network).chainId) return no('chain_id_mismatch');
  if (encodeUnsigned(decoded.transaction) !== unsigned.payload) return no('payload_mismatch');
  if (decoded.from !== unsigned.from) return no('signer_mismatch');
  return txidOf(signed.payload) === signed.txid ? null : no('txid_mismatch');
}
