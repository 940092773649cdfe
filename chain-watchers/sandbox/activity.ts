/** What an old wallet's addresses received before it came and go on receiving. Migration M-S1. */
import { randomBytes } from 'node:crypto';
import type { SandboxTransaction } from '../../model/ports/sandbox-store.ts';
import type { SandboxControl } from '../../model/ports/sandbox-control.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import type { Family } from '../../protocol/slugs.ts';
import { append, appendEmpty, headOf, inTurn } from './ledger.ts';
import type { SandboxLedger, SandboxLedgers } from './ledgers.ts';

/** Of each payment, whole coins: what makes an account where the chain has a minimum. */
const COINS: Partial<Record<Family, bigint>> = { xrp: 20n, xlm: 20n, tron: 20n };

/** Refuses: what the chain would not make; IMPORT_NOT_READY. */
export async function simulateActivity(
  ledgers: SandboxLedgers,
  ledger: SandboxLedger,
  { addresses, height, historical, live }: Parameters<SandboxControl['simulateActivity']>[1],
): Promise<{ txids: string[] } | Refusal> {
  const {
    parts,
    binding: { network },
  } = ledger;
  const txids: string[] = [];
  if (historical > 0) {
    const payments = await paymentsTo(ledger, addresses, historical);
    if (isRefusal(payments)) return payments;
    const at = Math.min(height, (await headOf(parts)).height);
    if (!(await inTurn(parts, () => parts.store.amend(parts.ledger, at, payments))))
      return refuse('IMPORT_NOT_READY', { reason: 'the block of the recorded height is gone' });
    txids.push(...payments.map(({ txid }) => txid));
    await ledgers.tick(ledger);
  }
  if (live > 0) {
    const mined = await append<Refusal>(parts, async () => {
      const payments = await paymentsTo(ledger, addresses, live);
      return isRefusal(payments) ? payments : [payments];
    });
    if (isRefusal(mined)) return mined;
    txids.push(...mined[0]!.transactions.map(({ txid }) => txid));
    await ledgers.tick(ledger);
    await appendEmpty(parts, network.threshold - 1);
    await ledgers.tick(ledger);
  }
  return { txids };
}

async function paymentsTo(
  { parts, binding: { network } }: SandboxLedger,
  addresses: readonly string[],
  each: number,
): Promise<SandboxTransaction[] | Refusal> {
  const amount = (COINS[network.family] ?? 1n) * 10n ** BigInt(network.nativeDecimals);
  const payments: SandboxTransaction[] = [];
  for (const to of addresses) {
    let balance = await parts.store.balance(parts.ledger, to, null);
    for (let count = 0; count < each; count += 1) {
      const payment = parts.family.deposit(network, { to, amount, token: null, seed: randomBytes(32), balance });
      if (isRefusal(payment)) return payment;
      payments.push(payment);
      balance += amount;
    }
  }
  return payments;
}
