/**
 * Signed bytes as a simulated ledger reads them: they are bound to an id that no real network has, or they are refused.
 */
import type { Signed } from '../../chains/chain.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import type { ReadPayload } from './family.ts';
import type { LedgerParts } from './ledger.ts';

/**
 * The payload of signed bytes. What was signed before ledgers had ids of their own is read in that form, by its txid: a
 * payment that was under way then still lands. Refuses: CHAIN_REJECTED.
 */
export async function readOn(
  { family, network, realNetwork, store, ledger }: LedgerParts,
  signed: Signed,
): Promise<ReadPayload | Refusal> {
  const read = family.read(network, signed);
  if (!isRefusal(read) || !(await store.isFormer(ledger, signed.txid))) return read;
  const former = family.read(realNetwork, signed);
  return isRefusal(former) ? read : former;
}
