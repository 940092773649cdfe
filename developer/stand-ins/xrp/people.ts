/** What people do on a stand-in network: funding, paying, trusting; every step is a signed transaction. */
import type { Wallet } from 'xrpl';
import { accountKey } from './entries.ts';
import type { LedgerNetwork, SubmitResult } from './ledger-network.ts';
import { GENESIS } from './signers.ts';
import type { Json } from './transactions.ts';

/** Ledgers within which what people submit must land. */
const LEDGERS = 20;

/** The next sequence of an account in the open ledger. Throws: Error for one that is not there. */
export function nextSequence(network: LedgerNetwork, account: string): number {
  const root = network.openState.get(accountKey(account));
  if (root === undefined) throw new Error(`no account ${account}`);
  return Number(root['Sequence']);
}

/** Signs and submits a transaction of somebody, with what it leaves out filled in. */
export function act(network: LedgerNetwork, wallet: Wallet, json: Json): SubmitResult {
  return network.submit(signedBy(network, wallet, json).blob);
}

/** The signed bytes of a transaction, with what it leaves out filled in. */
export function signedBy(
  network: LedgerNetwork,
  wallet: Wallet,
  json: Json,
): { readonly blob: string; readonly txid: string } {
  const whole = {
    Account: wallet.classicAddress,
    Fee: network.openLedgerFee.toString(),
    LastLedgerSequence: network.openHeight + LEDGERS,
    ...(json['Sequence'] === undefined ? { Sequence: nextSequence(network, wallet.classicAddress) } : {}),
    ...json,
  };
  const { tx_blob: blob, hash: txid } = wallet.sign(whole as never);
  return { blob, txid };
}

/** The same, which must succeed. Throws: Error with the result. */
export function must(network: LedgerNetwork, wallet: Wallet, json: Json): string {
  const { result, tx } = act(network, wallet, json);
  if (result !== 'tesSUCCESS') throw new Error(`${String(json['TransactionType'])}: ${result}`);
  return tx.txid;
}

/** Gives an address XRP from where all of it is at first; answers the txid. */
export function fund(network: LedgerNetwork, address: string, drops: bigint): string {
  return must(network, GENESIS, { TransactionType: 'Payment', Destination: address, Amount: drops.toString() });
}

const FLAG = { defaultRipple: 8, requireAuth: 2 } as const;

/** An issuer whose holders can pay each other. */
export function makeIssuer(
  network: LedgerNetwork,
  issuer: Wallet,
  settings: { transferRate?: number; requireAuth?: boolean } = {},
): void {
  const { transferRate, requireAuth = false } = settings;
  fund(network, issuer.classicAddress, 1_000_000_000n);
  must(network, issuer, {
    TransactionType: 'AccountSet',
    SetFlag: FLAG.defaultRipple,
    ...(transferRate === undefined ? {} : { TransferRate: transferRate }),
  });
  if (requireAuth) must(network, issuer, { TransactionType: 'AccountSet', SetFlag: FLAG.requireAuth });
}

const NO_RIPPLE = 0x0002_0000;

/** Opens a holder's line. */
export function trust(
  network: LedgerNetwork,
  holder: Wallet,
  token: { currency: string; issuer: string },
  limit = '1000000000',
): string {
  return must(network, holder, {
    TransactionType: 'TrustSet',
    Flags: NO_RIPPLE,
    LimitAmount: { ...token, value: limit },
  });
}

/** Pays a token; what an issuer pays is made thereby. */
export function payToken(
  network: LedgerNetwork,
  from: Wallet,
  to: string,
  amount: { currency: string; issuer: string; value: string },
  more: Json = {},
): string {
  return must(network, from, { TransactionType: 'Payment', Destination: to, Amount: amount, ...more });
}
