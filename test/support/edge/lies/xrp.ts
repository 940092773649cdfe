/** What a cloud can say of an XRP payment or trust line. */
import { catalogueOf } from '../../../../chains/catalogue.ts';
import type { Unsigned } from '../../../../chains/chain.ts';
import { xrp } from '../../../../chains/xrp/network.ts';
import {
  decodeUnsigned,
  encodeUnsigned,
  type XrpPayment,
  type XrpTransaction,
  type XrpTrustSet,
} from '../../../../chains/xrp/transaction.ts';
import { buildUnsigned, feePartsOf } from '../../../../chains/xrp/unsigned.ts';
import { feeBoundsOf } from '../../../../edge/signing/signers/fee-bounds.ts';
import type { Instruction } from '../../../../edge/signing/signers/signer.ts';
import { xrpSigner } from '../../../../edge/signing/signers/xrp.ts';
import { inputsOf, tokenStateOf } from '../../xrp-inputs.ts';
import { addressAt as derive, must, ours } from '../../xrp-node.ts';
import { NO_JOURNAL, remembering, type Ask, type Stage } from './stage.ts';

const US = ours(0, 0),
  TANK = ours(1, 0),
  TREASURY = ours(1, 1);
const SHOP = 'rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf',
  THIEF = 'r36yxStAh7qgTQNHTzjZvXybCTzUFhrfav';
const addressAt = remembering(derive);
const catalogue = catalogueOf('xrp');
const USDC = catalogue.get('5553444300000000000000000000000000000000:rGm7WCVp9gb4jZHWTEtGUr4dd74z2XuWhE')!;
const RLUSD = catalogue.get('524C555344000000000000000000000000000000:rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De')!;
const ONE = 10n ** 15n;

function askOf(more: Partial<Instruction> = {}, tickets: number[] = []): Ask {
  const instruction: Instruction = {
    id: 'txn_1',
    purpose: 'withdrawal',
    chain: 'xrp',
    from: US.address,
    fromPath: US.path,
    to: SHOP,
    toPath: null,
    amount: 2_000_000n,
    token: null,
    tag: '7',
    ...more,
  };
  const { from, fromPath, to, amount, token, tag, purpose } = instruction,
    isOptIn = purpose === 'opt_in';
  const state = isOptIn ? { senderLine: null, destinationLine: null } : {};
  const inputs = inputsOf({
    ...(token === null ? {} : { token: tokenStateOf(state) }),
    sender: { balanceDrops: '25000000', sequence: 7, ownerCount: 0, tickets },
  });
  const kind = isOptIn ? ('trustline' as const) : ('payment' as const);
  return {
    instruction,
    unsigned: must(
      buildUnsigned(
        xrp,
        inputs,
        { chain: 'xrp', from, fromPath, to, amount, token, tag, kind },
        { kind: 'sequence', value: String(tickets[0] ?? 7) },
      ),
    ),
    policy: {
      ...feeBoundsOf('xrp', undefined, purpose === 'sweep'),
      sweepDestinations: [TREASURY.address],
      gasTank: TANK.address,
      catalogue,
      addressAt,
      replayWindow: null,
      nowMs: Date.parse('2026-08-20T00:00:00Z'),
      journal: NO_JOURNAL,
    },
  };
}

/** A change of the bytes, with a summary that goes along. */
const lie =
  (change: (transaction: XrpTransaction) => Partial<XrpPayment> | Partial<XrpTrustSet> | null) =>
  ({ unsigned }: Ask): Unsigned | null => {
    const read = decodeUnsigned(unsigned.payload);
    if (!read.ok) throw new Error(read.reason);
    const changed = change(read.transaction);
    if (changed === null) return null;
    const transaction = { ...read.transaction, ...changed } as XrpTransaction,
      isPayment = transaction.type === 'Payment';
    return {
      ...unsigned,
      payload: encodeUnsigned(transaction),
      kind: isPayment ? 'payment' : 'trustline',
      to: isPayment ? transaction.destination : transaction.account,
      amount: isPayment ? transaction.amount : 0n,
      tokenContract: transaction.tokenContract,
      tag: isPayment ? (transaction.destinationTag?.toString() ?? null) : null,
      feeMax: transaction.feeDrops,
      fee: feePartsOf(transaction),
      replayKey: { kind: 'sequence', value: String(transaction.sequence) },
    };
  };
const payment = (change: (payment: XrpPayment) => Partial<XrpPayment> | null) =>
  lie((transaction) => (transaction.type === 'Payment' ? change(transaction) : null));
const payload = (change: (transaction: XrpTransaction) => Partial<XrpPayment> | null) => (ask: Ask) =>
  lie(change)(ask)?.payload ?? null;
const whole = (transaction: XrpTransaction) => (transaction.tokenContract === null ? 7n : ONE);

export const stage: Stage = {
  network: xrp,
  signer: xrpSigner,
  thief: THIEF,
  otherPath: ours(0, 3).path,
  token: USDC,
  asks: {
    native: askOf(),
    'native without a tag': askOf({ tag: null }),
    'by ticket': askOf({}, [3]),
    token: askOf({ token: USDC, amount: 5n * ONE }),
    'send-all': askOf({ amount: 'all', tag: null }),
    'send-all of a token': askOf({ token: USDC, amount: 'all' }),
    'trust line': askOf({ purpose: 'opt_in', to: US.address, token: RLUSD, amount: 0n, tag: null }),
    sweep: askOf({ purpose: 'sweep', to: TREASURY.address, amount: 'all', tag: null }),
    'sweep of a token': askOf({ purpose: 'sweep', to: TREASURY.address, token: USDC, amount: ONE / 8n, tag: null }),
    'gas funding': askOf({
      purpose: 'gas_funding',
      from: TANK.address,
      fromPath: TANK.path,
      to: US.address,
      toPath: US.path,
      tag: null,
    }),
  },
  lies: {
    destination: payment(() => ({ destination: THIEF })),
    'another tag': payment(() => ({ destinationTag: 8 })),
    'no tag': payment(({ destinationTag }) => (destinationTag === null ? null : { destinationTag: null })),
    'another amount': payment((before) => ({ amount: before.amount + whole(before) })),
    'another token': payment(({ tokenContract }) =>
      tokenContract === null ? null : { tokenContract: RLUSD.contract },
    ),
    'a token for coins': payment(({ tokenContract }) =>
      tokenContract === null ? { tokenContract: USDC.contract } : null,
    ),
    'all that the sender has': payment(({ amount, tokenContract }) =>
      tokenContract === null ? null : { sendMax: amount * 3n },
    ),
    'a fee for the issuer': payment(({ amount, tokenContract }) =>
      tokenContract === null ? null : { sendMax: amount + amount / 100n },
    ),
    'another sender': lie(() => ({ account: THIEF })),
    'a trust line instead': payment(({ account, feeDrops, sequence, byTicket, lastLedgerSequence }) => ({
      ...({ type: 'TrustSet', tokenContract: USDC.contract, limit: ONE } as object),
      ...{ account, feeDrops, sequence, byTicket, lastLedgerSequence },
    })),
    'a line for another token': lie((before) => (before.type === 'TrustSet' ? { tokenContract: USDC.contract } : null)),
    'a line of another limit': lie((before) => (before.type === 'TrustSet' ? { limit: ONE } : null)),
    'a fee above all': lie(() => ({ feeDrops: 1_000_001n })),
    'a fee above the cap': lie(() => ({ feeDrops: 5_001n })),
    'a price above the cap': lie(() => ({ feeDrops: 5_000n })),
    'another sequence': lie(({ sequence }) => ({ sequence: sequence + 1 })),
    'a sequence of years ahead': lie(() => ({ sequence: 200_000_000 })),
    'an end that was': lie(() => ({ lastLedgerSequence: 90_000_000 })),
    'an end far ahead': lie(() => ({ lastLedgerSequence: 90_000_076 })),
    'an end and a height far ahead': (ask) => {
      const far = lie(() => ({ lastLedgerSequence: 400_000_020 }))(ask);
      return far === null ? null : { ...far, readAtHeight: 400_000_000 };
    },
    'another network': lie(() => ({ networkId: 21_338 })),
  },
  earlier: {
    'a version with another fee': payload(({ feeDrops }) => ({ feeDrops: feeDrops + 1n })),
    'a version with another end': payload(() => ({ lastLedgerSequence: 90_000_001 })),
    'a version of another amount': payload((before) =>
      before.type === 'Payment' ? { amount: before.amount + whole(before) } : null,
    ),
    'a version of a lower amount': payload((before) =>
      before.type === 'Payment' ? { amount: before.amount - whole(before) } : null,
    ),
    'a version to somebody else': payload((before) => (before.type === 'Payment' ? { destination: THIEF } : null)),
    'a version under another sequence': payload(({ sequence }) => ({ sequence: sequence + 1 })),
    'a version by ticket': payload(({ byTicket }) => ({ byTicket: !byTicket })),
    'a version of another network': payload(() => ({ networkId: 21_338 })),
  },
};
