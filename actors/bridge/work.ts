/**
 * One step of a transfer, as its rows and its chains are now: what is to be built next, or what it waits for. Each step
 * follows from what is stored and is the same after a crash: ids are chosen before, an arrow and its transaction are
 * one append, and after the burn nothing is ever built on its chain again. Treasury H5–H11.
 */
import {
  amountIn,
  BRIDGED_SYMBOL,
  CCTP_CHAINS,
  domainOf,
  encodeApprove,
  encodeBurn,
  encodeMinFee,
  encodeMint,
  encodeUsedNonce,
  feeIn,
  flawOf,
  MESSAGE_RECEIVED,
  MESSAGE_TRANSMITTER,
  messageOf,
  messagesIn,
  mintedIn,
  nonceOf,
  TOKEN_MESSENGER,
  type Burn,
} from '../../chains/evm/cctp.ts';
import { decodeWord } from '../../chains/evm/abi.ts';
import type { ContractCall } from '../../chains/contract-call.ts';
import { waysOf } from '../../chains/ways.ts';
import type { BridgeArrow, BridgeFields } from '../../model/account/bridge.ts';
import type { AccountState } from '../../model/account/capabilities.ts';
import type { Accounts } from '../../model/ports/accounts.ts';
import type { Attesters } from '../../model/ports/attesters.ts';
import type { BridgeStore } from '../../model/ports/bridge-store.ts';
import type { ChainAccess, ChainBinding } from '../../model/ports/chain-access.ts';
import type { EdgeStreams } from '../../model/ports/edge-streams.ts';
import type { ReadStore } from '../../model/ports/read-store.ts';
import type { BridgeTransferRow, BridgeTransferState } from '../../model/rows/bridge.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import { environmentOf, type AccountId } from '../../protocol/ids.ts';
import { newId } from '../../protocol/node/ids.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { PASSING } from '../outgoing/passing.ts';
import { ROLE_OF } from '../outgoing/row.ts';
import { isWatched } from '../outgoing/submit.ts';
import type { WayOut } from '../outgoing/way-out.ts';
import { verdictOf } from '../sweep/signing.ts';
import { tankOf } from '../treasury/view.ts';
import { blockedOf, bridgeFrameOf, type BridgeRole } from './signing.ts';

export interface BridgeParts {
  readonly accounts: Pick<Accounts, 'ask'>;
  readonly chains: Pick<ChainAccess, 'bind' | 'tokens'>;
  readonly reads: Pick<ReadStore, 'withdrawal'>;
  readonly bridges: Pick<BridgeStore, 'transfer'>;
  readonly edges: Pick<EdgeStreams, 'askToOperate'>;
  readonly wayOut: Pick<WayOut, 'build' | 'bind'>;
  readonly attesters: Attesters;
  readonly nowMs: () => number;
  readonly log: { warn(facts: object, text: string): void };
}

/** Looks at what lies in no block yet, and at an edge that is away. */
const LOOK_MS = 2_000;
/** An edge that refuses a mint is asked again: its settings may be others. */
const BLOCKED_LOOK_MS = 60_000;
/** H8: an attestation is asked for this often at first, and no more seldom than the second. */
const ASK_MS = { first: 5_000, last: 60_000 };
/** H11: it is said to be stalled after the longer of this and four times the typical time. */
const STALLED_MS = 30 * 60_000;

/** Over, and in no block: nobody can sign it any more. */
const CLOSED: ReadonlySet<string> = new Set(['expired', 'failed']);

interface Step {
  readonly parts: BridgeParts;
  readonly accountId: AccountId;
  readonly known: BridgeTransferRow;
}

/** Goes on with a transfer. Throws: ChainUnavailable; it is looked at again. */
export async function advanceTransfer(parts: BridgeParts, accountId: AccountId, id: string): Promise<void> {
  const known = await parts.bridges.transfer(accountId, id);
  if (known === null) return;
  const step: Step = { parts, accountId, known };
  switch (known.state) {
    case 'PLANNED':
      return plan(step);
    case 'APPROVING':
      return approved(step);
    case 'BURNING':
      return burnt(step);
    case 'ATTESTING':
      return attested(step);
    case 'MINTING':
      return minted(step);
    case 'COMPLETED':
    case 'FAILED':
  }
}

async function move({ parts, accountId, known }: Step, to: BridgeTransferState, fields: BridgeFields): Promise<void> {
  await parts.accounts.ask(accountId, { type: 'move_bridge_transfer', known, to, fields });
}

const waits = (step: Step, fields: BridgeFields = {}, forMs = LOOK_MS): Promise<void> =>
  move(step, step.known.state, { lookAtMs: step.parts.nowMs() + forMs, ...fields });

async function fail(step: Step, reason: string, blocked: string | null = null): Promise<void> {
  await move(step, 'FAILED', { reason, blocked });
}

async function bound({ parts, accountId }: Step, chain: Chain): Promise<ChainBinding | Refusal> {
  return parts.chains.bind(accountId, chain);
}

/** PLANNED: what the burn may cost is read, and its amount approved. */
async function plan(step: Step): Promise<void> {
  const { parts, known, accountId } = step,
    { fromChain, toChain, amount, tokenContract } = known;
  const state = await stateOf(step),
    policy = state?.bridgePolicies.find(({ id }) => id === known.policyId);
  if (state === null) return;
  if (policy === undefined || !policy.enabled) return fail(step, 'policy_stopped');
  const way = waysOf(parts.chains.tokens.current, environmentOf(accountId)).find(
    (one) => one.symbol === BRIDGED_SYMBOL && one.from === fromChain && one.to === toChain,
  );
  if (way === undefined || way.reason !== null) return fail(step, 'route_closed');
  const [source, destination] = [await bound(step, fromChain), await bound(step, toChain)];
  if (isRefusal(source) || isRefusal(destination)) return waits(step, {}, BLOCKED_LOOK_MS);
  const [least, fee] = [
    await leastFee(source, amount),
    await parts.attesters.feeOf(domainOf(fromChain), domainOf(toChain), amount),
  ];
  if (fee === null) return waits(step, {}, ASK_MS.last);
  const maxFee = fee > least ? fee : least;
  if (maxFee >= amount) return fail(step, 'fee');
  const tank = tankOf(state, toChain);
  // H10: nobody could pay for the mint of this burn.
  const gas = tank === null ? 0n : (await destination.client.fetchBalance(tank.address, null)).available;
  if (gas === 0n) return fail(step, 'funding_wallet_low');
  const mintFrom = (await destination.client.getHead()).height;
  await build(
    step,
    'APPROVING',
    { maxFee, mintFrom },
    {
      chain: fromChain,
      from: known.source,
      to: TOKEN_MESSENGER,
      id: known.approveId,
      token: tokenContract,
      amount,
      call: { contract: tokenContract, data: encodeApprove(amount) },
    },
  );
}

/** What the contract keeps at least; an older one has no such question. */
async function leastFee({ client }: ChainBinding, amount: bigint): Promise<bigint> {
  const answer = await client.askContract?.({ contract: TOKEN_MESSENGER, data: encodeMinFee(amount) });
  return decodeWord(answer) ?? 0n;
}

/** APPROVING: signed, in a block for good, then the burn. */
async function approved(step: Step): Promise<void> {
  const { known } = step,
    built = await step.parts.reads.withdrawal(step.accountId, known.approveId);
  if (built === null || CLOSED.has(built.status)) return fail(step, failureOf(built, 'approve'));
  if (built.status === 'built') return sign(step, built, 'approve');
  if (built.status !== 'confirmed') return waits(step);
  await build(
    step,
    'BURNING',
    {},
    {
      chain: known.fromChain,
      from: known.source,
      to: TOKEN_MESSENGER,
      id: known.burnId,
      token: known.tokenContract,
      amount: known.amount,
      call: { contract: TOKEN_MESSENGER, data: encodeBurn(burnOf(known)) },
    },
  );
}

/** BURNING: signed, in a block for good; then it waits for its attestation, whatever comes. */
async function burnt(step: Step): Promise<void> {
  const { parts, known } = step,
    built = await parts.reads.withdrawal(step.accountId, known.burnId);
  // What every node refused may land all the same: the transfer ends when its chain proves that it cannot.
  if (built !== null && isWatched(built)) {
    const { code, reason } = built.failure ?? { code: 'CHAIN_REJECTED', reason: null };
    const blocked = JSON.stringify(blockedOf({ code, details: { reason } }));
    return waits(step, { stalledReason: 'burn_refused', blocked });
  }
  if (built === null || CLOSED.has(built.status)) return fail(step, failureOf(built, 'burn'));
  if (built.status === 'built') return sign(step, built, 'burn');
  if (built.status !== 'confirmed' || built.txid === null || built.blockHash === null) return waits(step);
  const source = await bound(step, known.fromChain);
  if (isRefusal(source)) return waits(step, {}, BLOCKED_LOOK_MS);
  const logs = (await source.client.fetchLogsOf?.(built.txid, built.blockHash.toLowerCase())) ?? null;
  if (logs === null) return waits(step);
  const message = messageOf(burnOf(known)),
    at = parts.nowMs(),
    isSent = messagesIn(logs).includes(message);
  failpoint('cloud.bridge.burnt');
  await move(step, 'ATTESTING', {
    message,
    blocked: null,
    attestingAtMs: at,
    lookAtMs: at + typicalMs(known),
    stalledReason: isSent ? null : 'no_message',
  });
}

/** Nobody signed it and nobody can, or it did nothing. */
function failureOf(built: WithdrawalRow | null, what: 'approve' | 'burn'): string {
  return built === null || built.versions.length === 0 ? 'not_signed' : `${what}_failed`;
}

const typicalMs = ({ fromChain }: BridgeTransferRow): number => (CCTP_CHAINS[fromChain]?.seconds ?? 0) * 1_000;

function burnOf({ fromChain, toChain, tokenContract, source, recipient, amount, maxFee }: BridgeTransferRow): Burn {
  return {
    from: fromChain,
    to: toChain,
    token: tokenContract,
    sender: source,
    recipient,
    amount,
    maxFee: maxFee ?? 0n,
  };
}

/** ATTESTING: asked for until it is the very message that was burnt; then it is minted. */
async function attested(step: Step): Promise<void> {
  const { parts, known } = step,
    burn = await parts.reads.withdrawal(step.accountId, known.burnId);
  // A reorg took the burn out of the chain: its bytes are sent again, and it is attested when it is final.
  if (burn === null || burn.status !== 'confirmed' || burn.txid === null) return waits(step);
  const said = await parts.attesters.attestationOf(domainOf(known.fromChain), burn.txid);
  if (said.kind === 'silence') return waits(step, stallOf(step), Math.max(said.untilMs - parts.nowMs(), ASK_MS.first));
  if (said.kind === 'not_yet') return waits(step, stallOf(step), pauseOf(step));
  const flaw = flawOf(known.message ?? '', said);
  if (flaw !== null) {
    parts.log.warn(
      { transferId: known.id, reason: flaw },
      'an attested message is not that of its burn: it is not minted',
    );
    return waits(step, { stalledReason: 'message_differs' }, ASK_MS.last);
  }
  await mint({ ...step, known: { ...known, attested: said.message, attestation: said.attestation } }, known);
}

/** H11: what is not attested for long is said once, and asked for ever on. */
function stallOf({ parts, known }: Step): BridgeFields {
  if (known.stalledReason !== null) return {};
  const after = Math.max(STALLED_MS, 4 * typicalMs(known));
  return parts.nowMs() - (known.attestingAtMs ?? parts.nowMs()) > after ? { stalledReason: 'attestation' } : {};
}

/** A tenth of what it has waited beyond the typical time, within the bounds. */
function pauseOf({ parts, known }: Step): number {
  const over = parts.nowMs() - (known.attestingAtMs ?? parts.nowMs()) - typicalMs(known);
  return Math.min(ASK_MS.last, Math.max(ASK_MS.first, over / 10));
}

/** The mint of what is attested, or that somebody else has minted it. `stored` is the row as it is. */
async function mint(step: Step, stored: BridgeTransferRow): Promise<void> {
  const { parts, known } = step,
    { toChain, attested: message, attestation } = known;
  const destination = await bound(step, toChain),
    state = await stateOf(step);
  const tank = state === null ? null : tankOf(state, toChain);
  const here: Step = { ...step, known: stored };
  if (isRefusal(destination) || tank === null || message === null || attestation === null)
    return waits(here, {}, BLOCKED_LOOK_MS);
  if (await isUsed(destination, message)) return mintedElsewhere(here, destination, message, attestation);
  // A mint that did nothing has its id: the next one is another transaction.
  const mintId = stored.state === 'MINTING' ? newId('txn', parts.nowMs()) : stored.mintId;
  const fields = { attested: message, attestation, mintId, stalledReason: null, blocked: null };
  await build(here, 'MINTING', fields, {
    chain: toChain,
    from: tank.address,
    to: MESSAGE_TRANSMITTER,
    id: mintId,
    token: null,
    amount: 0n,
    call: { contract: MESSAGE_TRANSMITTER, data: encodeMint(message, attestation) },
  });
}

async function isUsed({ client }: ChainBinding, message: string): Promise<boolean> {
  const call = { contract: MESSAGE_TRANSMITTER, data: encodeUsedNonce(nonceOf(message)) };
  return (decodeWord(await client.askContract?.(call)) ?? 0n) > 0n;
}

/** H10: somebody else minted it: what arrived is in the transaction that received the message. */
async function mintedElsewhere(
  step: Step,
  { client, network }: ChainBinding,
  message: string,
  attestation: string,
): Promise<void> {
  const { known, parts } = step;
  const topics = [MESSAGE_RECEIVED, null, nonceOf(message)];
  const [found] = (await client.findLogs?.(MESSAGE_TRANSMITTER, topics, known.mintFrom ?? 0)) ?? [];
  const head = (await client.getHead()).height;
  if (found === undefined) return waits(step, { stalledReason: 'minted_nothing' }, ASK_MS.last);
  if (head - found.height + 1 < network.threshold) return waits(step);
  const logs = (await client.fetchLogsOf?.(found.txid, found.blockHash)) ?? null;
  if (logs === null) return waits(step);
  const received = mintedIn(logs, mintTokenOf(parts, known), known.recipient);
  const isRight = received === amountIn(message) - feeIn(message);
  if (!isRight) return waits(step, { stalledReason: 'minted_nothing' }, ASK_MS.last);
  await move(step, 'COMPLETED', { attested: message, attestation, received, blocked: null });
}

/** MINTING: signed, in a block for good, and the very amount has arrived. */
async function minted(step: Step): Promise<void> {
  const { parts, known } = step,
    { toChain, attested: message, attestation } = known;
  const built = await parts.reads.withdrawal(step.accountId, known.mintId);
  if (built === null || CLOSED.has(built.status)) return mint(step, known);
  if (built.status === 'built') return sign(step, built, 'mint');
  if (built.status !== 'confirmed' || built.txid === null || built.blockHash === null) return waits(step);
  const destination = await bound(step, toChain);
  if (isRefusal(destination) || message === null || attestation === null) return waits(step, {}, BLOCKED_LOOK_MS);
  const logs = (await destination.client.fetchLogsOf?.(built.txid, built.blockHash.toLowerCase())) ?? null;
  if (logs === null) return waits(step);
  const received = mintedIn(logs, mintTokenOf(parts, known), known.recipient);
  if (received !== amountIn(message) - feeIn(message))
    return waits(step, { stalledReason: 'minted_nothing' }, ASK_MS.last);
  failpoint('cloud.bridge.minted');
  await move(step, 'COMPLETED', { received, blocked: null });
}

/** The token on the chain that it is minted on; empty where the registry has none any more: nothing equals it. */
function mintTokenOf({ chains }: Pick<BridgeParts, 'chains'>, { toChain }: BridgeTransferRow): string {
  const entry = chains.tokens.current.tokens.find(({ symbol }) => symbol === BRIDGED_SYMBOL);
  return entry?.deployments.find(({ chain }) => chain === toChain)?.contract ?? '';
}

interface Asked {
  readonly chain: Chain;
  readonly from: string;
  readonly to: string;
  readonly id: string;
  readonly token: string | null;
  readonly amount: bigint;
  readonly call: ContractCall;
}

/** One arrow and its transaction, in one append; what cannot be built now is tried again, or fails before the burn. */
async function build(step: Step, to: BridgeArrow['to'], fields: BridgeFields, asked: Asked): Promise<void> {
  const { parts, accountId, known } = step,
    { id, chain, from, token, amount, call } = asked;
  const wish = { chain, from, to: asked.to, amount: String(amount), tokenContract: token, chainTag: null, call };
  const at = parts.nowMs();
  const answer = await parts.wayOut.build(
    accountId,
    { ...wish, kind: 'payment' },
    { id, bridging: { known, to, fields: { lookAtMs: at, ...fields } } },
  );
  if (isRefusal(answer)) {
    // What is burnt never fails: a mint that its chain refuses now is tried again.
    const blocked = JSON.stringify(blockedOf(answer));
    if (to === 'MINTING') return waits(step, { blocked }, BLOCKED_LOOK_MS);
    return PASSING.has(answer.code) ? waits(step) : fail(step, 'build_refused', blocked);
  }
  if (answer.ok !== true) return;
  failpoint(`cloud.bridge.${ROLE_OF[to]}.built`);
  const after = await parts.bridges.transfer(accountId, known.id);
  if (after !== null && after.state === to) return sign({ ...step, known: after }, answer.reply, ROLE_OF[to]);
}

/** The leader signs it, or says why not: before the burn that ends the transfer, after it it is asked again. */
async function sign(step: Step, built: WithdrawalRow, role: BridgeRole): Promise<void> {
  const { parts, accountId, known } = step;
  const ready = await parts.wayOut.bind(built, []);
  if (ready.ok !== true) return waits(step);
  const said = await parts.edges.askToOperate(accountId, bridgeFrameOf(known, ready.reply, role));
  if (said.ok) {
    failpoint(`cloud.bridge.${role}.signed`);
    return waits(step, { blocked: null });
  }
  const after = await parts.reads.withdrawal(accountId, built.id);
  // Signed all the same: what became of it is in its row.
  if (after === null || after.versions.length > 0 || verdictOf(said) === null) return waits(step);
  const blocked = blockedOf(said);
  if (role === 'mint') return waits(step, { blocked: JSON.stringify(blocked) }, BLOCKED_LOOK_MS);
  // The build goes first: an edge that signed it meanwhile is heard, and what comes after it is refused.
  const given = await parts.accounts.ask(accountId, { type: 'abandon_withdrawal', known: after });
  if (given.ok === true) await fail(step, blocked.reason, JSON.stringify(blocked));
}

async function stateOf({ parts, accountId }: Step): Promise<AccountState | null> {
  const answer = await parts.accounts.ask(accountId, { type: 'inspect' });
  return answer.ok === true ? (answer.reply as AccountState) : null;
}
