/** Whether signed bytes are the payload that was built. Verifying a signature needs no key. */
import { Transaction } from 'bitcoinjs-lib';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Network, Signed, Unsigned } from '../chain.ts';
import { parseAddress } from './address.ts';
import { btcOf } from './network.ts';
import { decodePsbt, transactionOf, type Psbt } from './psbt.ts';
import { isUnlocked, type Spent } from './spending.ts';

/** The transaction of raw hex bytes, or null when they are none. */
export function decodeRaw(hex: string): Transaction | null {
  if (!/^(?:[0-9a-f]{2})+$/.test(hex)) return null;
  try {
    return Transaction.fromHex(hex);
  } catch {
    return null;
  }
}

/**
 * Outputs that a payload spends, from its whole previous transactions where it has them (B12); null when one is not
 * given.
 */
export function spentBy({ inputs }: Psbt): Spent[] | null {
  const spent: Spent[] = [];
  for (const { txid, vout, previous, witnessUtxo } of inputs) {
    const whole = previous === null ? null : decodeRaw(Buffer.from(previous).toString('hex'));
    if (previous !== null && whole?.getId() !== txid) return null;
    const output = whole === null ? witnessUtxo : (whole.outs[vout] ?? null);
    if (output === null) return null;
    const contradicts =
      whole !== null &&
      witnessUtxo !== null &&
      (witnessUtxo.value !== output.value || Buffer.compare(witnessUtxo.script, output.script) !== 0);
    if (contradicts) return null;
    spent.push({ value: output.value, script: output.script });
  }
  return spent;
}

/**
 * Null for the very payload, every input signed by the key that `from` pays, under the id of the bytes (G28). Refuses:
 * SIGNED_BATCH_REJECTED.
 */
export function matchSigned(network: Network, unsigned: Unsigned, signed: Signed): Refusal | null {
  const no = (reason: string) => refuse('SIGNED_BATCH_REJECTED', { reason, chain: network.slug });
  if (signed.chain !== network.slug || unsigned.chain !== network.slug) return no('chain_mismatch');
  const transaction = decodeRaw(signed.payload);
  if (transaction === null || transaction.toHex() !== signed.payload)
    return no(transaction === null ? 'unreadable' : 'not_canonical');
  const decoded = decodePsbt(unsigned.payload),
    from = parseAddress(btcOf(network), unsigned.from);
  if (!decoded.ok || !from.ok) throw new Error('a payload of ours does not decode');
  if (bareHex(transaction) !== transactionOf(decoded.psbt).toHex()) return no('payload_mismatch');
  const spent = spentBy(decoded.psbt);
  const isOurs = spent?.every(
    ({ script }, index) => Buffer.compare(script, from.bytes) === 0 && isUnlocked(transaction, index, spent, network),
  );
  if (isOurs !== true) return no('signer_mismatch');
  return transaction.getId() === signed.txid ? null : no('txid_mismatch');
}

/** The transaction without its signatures, hex. */
function bareHex(transaction: Transaction): string {
  const bare = transaction.clone();
  bare.stripWitnesses();
  bare.ins.forEach((_input, index) => bare.setInputScript(index, new Uint8Array()));
  return bare.toHex();
}
