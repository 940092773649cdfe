/**
 * What has to be read before an outgoing transaction is decided: its wish in the chain's own forms, the sender's row,
 * and what the chain says now. Asks and reads; the decision is the account's (decide.ts, binding.ts).
 */
import type { BuildInputs, Intent, Unsigned } from '../../chains/chain.ts';
import { parseAddress, tokenOf } from '../../chains/reading.ts';
import type { ContractCall } from '../../chains/contract-call.ts';
import type { Accounts } from '../../model/ports/accounts.ts';
import type { ChainAccess, ChainBinding } from '../../model/ports/chain-access.ts';
import type { ReadStore } from '../../model/ports/read-store.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { isRefusal, notFound, refuse, type Refusal } from '../../protocol/errors.ts';
import { environmentOf, type AccountId } from '../../protocol/ids.ts';
import { parseAmount } from '../../protocol/money.ts';
import { FAMILY_OF, type Chain } from '../../protocol/slugs.ts';
import { notEnabled } from '../account/guards.ts';
import { coveredBySource } from '../key-source/covering.ts';
import { KEY_ONLY_FAMILIES } from '../key-source/decide.ts';

/** What is to be moved, as somebody names it; `to` is null where the sender does it to itself (an opt-in). */
export interface Wish {
  readonly chain: Chain;
  readonly from: string;
  readonly to: string | null;
  /** Decimal digits of the smallest unit, or `all`; of no meaning for an opt-in. */
  readonly amount: string;
  readonly tokenContract: string | null;
  readonly chainTag: string | null;
  /** The tag is a part of the destination's own text, of which `to` is the rest. */
  readonly tagOfAddress?: boolean;
  readonly kind: 'payment' | 'trustline';
  /** Of a sweep whose fee the gas tank pays along. */
  readonly feePayer?: string;
  /** Of a sweep whose gas lies there: what it may cost at most. */
  readonly withinFee?: bigint;
  /** Of a sweep of coins: what it may take together. */
  readonly sweepUpTo?: bigint;
  /** Of a bridge: the call in the place of a transfer. */
  readonly call?: ContractCall;
}

export interface Ready {
  readonly binding: ChainBinding;
  readonly from: AddressRow;
  readonly intent: Intent;
  readonly inputs: BuildInputs;
}

export interface Reading {
  readonly accounts: Pick<Accounts, 'ask'>;
  readonly chains: Pick<ChainAccess, 'bind' | 'enabled'>;
  readonly reads: Pick<ReadStore, 'addressByText'>;
}

/**
 * Everything that a build needs to be asked before it is decided. Refuses: INVALID_ADDRESS, CHAIN_UNAVAILABLE,
 * TOKEN_NOT_SUPPORTED, TOKEN_NOT_ON_CHAIN, what the chain refuses of the destination, INVALID_AMOUNT, INVALID_INPUT,
 * ADDRESS_IN_OBSERVE_MODE, ADDRESS_WATCH_ONLY, NOT_FOUND. Throws: ChainUnavailable.
 */
export async function prepare(reading: Reading, accountId: AccountId, wish: Wish): Promise<Ready | Refusal> {
  const { chain } = wish;
  const disabled = notEnabled(reading.chains, accountId, chain);
  const from = parseAddress(chain, wish.from);
  const to = wish.to === null ? from : parseAddress(chain, wish.to);
  if (isRefusal(from)) return refuse('INVALID_ADDRESS', { ...from.details, field: 'from' });
  if (isRefusal(to)) return refuse('INVALID_ADDRESS', { ...to.details, field: 'to' });
  if (disabled !== null) return disabled;
  const binding = await reading.chains.bind(accountId, chain);
  if (isRefusal(binding)) return binding;
  const token = tokenOf(binding, wish.tokenContract);
  if (isRefusal(token)) return token;
  const destination =
    wish.kind === 'trustline' ? null : binding.module.checkDestination(binding.network, to, binding.catalogue);
  if (destination !== null) return destination;
  const amount = amountOf(wish);
  if (isRefusal(amount)) return amount;
  if (to.tag !== null && wish.chainTag !== null && wish.chainTag !== to.tag) {
    return refuse('INVALID_INPUT', { field: 'chainTag', reason: 'the address names another tag' });
  }
  const row = await reading.reads.addressByText(accountId, chain, from.canonical);
  if (row === null) return notOurs(reading, accountId, chain, from.canonical);
  if (row.project?.mode === 'observe') return refuse('ADDRESS_IN_OBSERVE_MODE', { projectId: row.project.id });
  const intent: Intent = {
    chain,
    from: from.canonical,
    fromPath: row.derivationPath,
    to: to.canonical,
    amount,
    token,
    tag: wish.chainTag ?? to.tag,
    kind: wish.kind,
    ...(to.tag === null && wish.tagOfAddress !== true ? {} : { tagOfAddress: true }),
    ...(wish.feePayer === undefined ? {} : { feePayer: wish.feePayer }),
    ...(wish.withinFee === undefined ? {} : { withinFee: wish.withinFee }),
    ...(wish.sweepUpTo === undefined ? {} : { sweepUpTo: wish.sweepUpTo }),
    ...(wish.call === undefined ? {} : { call: wish.call }),
  };
  return { binding, from: row, intent, inputs: await binding.client.fetchBuildInputs(intent) };
}

function amountOf({ kind, amount, call }: Wish): bigint | 'all' | Refusal {
  // A mint moves nothing of its sender.
  if (kind === 'trustline' || (call !== undefined && amount === '0')) return 0n;
  return amount === 'all' ? amount : parseAmount(amount);
}

/** The refusal of a sender that the account does not have: a key source may cover it all the same. */
async function notOurs(
  { accounts }: Pick<Reading, 'accounts'>,
  accountId: AccountId,
  chain: Chain,
  address: string,
): Promise<Refusal> {
  if (KEY_ONLY_FAMILIES.includes(FAMILY_OF[chain])) {
    const answer = await accounts.ask(accountId, { type: 'inspect' });
    if (answer.ok !== true) return isRefusal(answer) ? answer : refuse('INTERNAL_ERROR');
    const covered = coveredBySource(answer.reply, chain, address);
    if (covered !== null) return covered;
  }
  return notFound('address', address, {
    field: 'from',
    chain,
    environment: environmentOf(accountId),
    reason: 'the service did not issue this address',
  });
}

/** The intent that a stored payload was built for. */
export function intentOf({ unsigned }: WithdrawalRow, { catalogue }: Pick<ChainBinding, 'catalogue'>): Intent {
  return {
    chain: unsigned.chain,
    from: unsigned.from,
    fromPath: unsigned.fromPath,
    to: unsigned.to,
    amount: unsigned.sendAll ? 'all' : unsigned.amount,
    token: unsigned.tokenContract === null ? null : (catalogue.get(unsigned.tokenContract) ?? null),
    tag: unsigned.tag,
    kind: unsigned.kind,
    ...payerIn(unsigned),
    ...(unsigned.call === undefined ? {} : { call: unsigned.call }),
  };
}

/** Who pays the fee of a payload, where that is somebody else than its sender. */
function payerIn({ fee, from }: Pick<Unsigned, 'fee' | 'from'>): { feePayer?: string } {
  const named = fee['feePayer'] ?? fee['feeSource'];
  return typeof named === 'string' && named !== from ? { feePayer: named } : {};
}
