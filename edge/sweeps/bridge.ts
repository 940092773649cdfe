/**
 * The instructions of a bridge, made here: the calls of CCTP v2 that burn USDC of the derived treasury and mint it to
 * the company again. Chains, domains, contracts, threshold and form of a call are this release's own table; the cloud
 * says which route, how much, and to which of the company's treasuries, and each of these is looked up here. Treasury
 * E5, H6, H7, H9.
 *
 *   role      from                      call                                     what bounds it
 *   approve   the derived treasury      approve(messenger, amount) of USDC       as much as may be burnt
 *   burn      the derived treasury      depositForBurn of the same amount        EDGE_BRIDGE_CAP_<CHAIN>, the fee of a
 *                                                                                thousandth, the recipient
 *   mint      the tank of the other     receiveMessage of what the treasury      the recipient; its cost
 *             chain                     burnt for a recipient of the company
 */
import type { Registry } from '../../chains/catalogue.ts';
import type { Token } from '../../chains/chain.ts';
import type { ContractCall } from '../../chains/contract-call.ts';
import {
  amountIn,
  BRIDGED_SYMBOL,
  BURN_MAX,
  encodeApprove,
  encodeBurn,
  encodeMint,
  flawOf,
  maxFeeIn,
  MESSAGE_TRANSMITTER,
  messageOf,
  TOKEN_MESSENGER,
} from '../../chains/evm/cctp.ts';
import { isPinned, isSameWay } from '../../chains/routes.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import type { OperateFrame } from '../../protocol/frames.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { refuseToSign, type Instruction } from '../signing/signers/signer.ts';
import type { OwnAddresses } from '../signing/own-addresses.ts';
import type { AllowedTreasury } from './treasuries.ts';

/** Most that a burn lets the bridge keep: a thousandth. A transfer that waits for finality costs nothing today. */
const FEE_SHARE = 1_000n;

type Part = NonNullable<OperateFrame['bridge']>;
export interface BridgeRules {
  readonly own: Pick<OwnAddresses, 'addressAt' | 'paths'>;
  readonly treasuries: ReadonlyMap<Chain, readonly AllowedTreasury[]>;
  readonly registry: Registry;
  /** EDGE_BRIDGE_CAP_<CHAIN>. */
  readonly bridgeCaps: ReadonlyMap<Chain, bigint>;
}

/** The token on both chains of a route that is open. */
interface Ends {
  readonly burnt: Token;
  readonly minted: Token;
}

/** Refuses: SIGNED_BATCH_REJECTED with the reason, AMOUNT_CAP_EXCEEDED for an approval above the cap. */
export function bridgeOf(
  rules: BridgeRules,
  frame: OperateFrame,
  role: 'approve' | 'burn' | 'mint',
): Instruction | Refusal {
  const { bridge: part, chain, tag, sendAll, toPath } = frame;
  if (part === undefined) return refuseToSign('bridge_part', { expected: role, found: 'none' });
  if (tag !== null || sendAll || toPath !== null)
    return refuseToSign('bridge_part', { expected: 'a contract, no tag, an amount', found: role });
  const ends = role === 'mint' ? openRoute(rules, part.otherChain, chain) : openRoute(rules, chain, part.otherChain);
  if (isRefusal(ends)) return ends;
  return role === 'mint' ? mintOf(rules, frame, part, ends) : spendOf(rules, frame, part, ends, role);
}

function spendOf(
  rules: BridgeRules,
  frame: OperateFrame,
  part: Part,
  { burnt }: Ends,
  role: 'approve' | 'burn',
): Instruction | Refusal {
  const { chain, token, to } = frame,
    amount = BigInt(frame.amount),
    maxFee = BigInt(part.maxFee);
  const from = derivedAt(rules, chain, 'treasury');
  if (from === null || frame.fromPath !== from.path || frame.from !== from.address)
    return refuseToSign('not_the_treasury', { expected: from?.address ?? null, found: frame.from });
  if (token !== burnt.contract) return refuseToSign('token_mismatch', { expected: burnt.contract, found: token });
  if (to !== TOKEN_MESSENGER) return refuseToSign('call_mismatch', { expected: TOKEN_MESSENGER, found: to });
  if (part.message !== null || part.attestation !== null)
    return refuseToSign('bridge_part', { expected: 'no message', found: role });
  if (amount < 1n || amount > BURN_MAX)
    return refuseToSign('bridge_amount', { expected: `1 to ${BURN_MAX}`, found: amount });
  const feeMost = (amount + FEE_SHARE - 1n) / FEE_SHARE;
  if (maxFee > feeMost || maxFee >= amount) return refuseToSign('bridge_fee', { expected: feeMost, found: maxFee });
  const stranger = notAllowed(rules, part.otherChain, part);
  if (stranger !== null) return stranger;
  const cap = rules.bridgeCaps.get(chain) ?? 0n;
  if (role === 'approve' && amount > cap) return aboveCap(chain, burnt, amount, cap);
  const { recipient, otherChain } = part;
  const burn = {
    from: chain,
    to: otherChain,
    token: burnt.contract,
    sender: from.address,
    recipient,
    amount,
    maxFee,
  };
  const call =
    role === 'approve'
      ? { contract: burnt.contract, data: encodeApprove(amount) }
      : { contract: TOKEN_MESSENGER, data: encodeBurn(burn) };
  return instructionOf(frame, call, { token: burnt, amount, ...(role === 'burn' ? { burns: true } : {}) });
}

function mintOf(rules: BridgeRules, frame: OperateFrame, part: Part, { burnt }: Ends): Instruction | Refusal {
  const { chain, token, to, amount } = frame,
    { otherChain, recipient, message, attestation } = part;
  const tank = derivedAt(rules, chain, 'gasTank');
  if (tank === null || frame.fromPath !== tank.path || frame.from !== tank.address)
    return refuseToSign('not_the_gas_tank', { expected: tank?.address ?? null, found: frame.from });
  if (token !== null) return refuseToSign('token_mismatch', { expected: null, found: token });
  if (to !== MESSAGE_TRANSMITTER) return refuseToSign('call_mismatch', { expected: MESSAGE_TRANSMITTER, found: to });
  if (amount !== '0') return refuseToSign('bridge_amount', { expected: '0', found: amount });
  if (message === null || attestation === null)
    return refuseToSign('bridge_part', { expected: 'a message and its attestation', found: 'none' });
  const stranger = notAllowed(rules, chain, part);
  if (stranger !== null) return stranger;
  const sender = derivedAt(rules, otherChain, 'treasury')?.address ?? null;
  if (sender === null || !/^0x[0-9a-f]{752}$/.test(message))
    return refuseToSign('message_differs', { expected: 'a message of this treasury', found: message });
  // What the message says of itself, in the one form that a burn of this treasury has.
  const burn = { from: otherChain, to: chain, token: burnt.contract, sender, recipient };
  const burntMessage = messageOf({ ...burn, amount: amountIn(message), maxFee: maxFeeIn(message) });
  const flaw = flawOf(burntMessage, { message, attestation });
  if (flaw !== null) return refuseToSign('message_differs', { expected: burntMessage, found: flaw });
  const call = { contract: MESSAGE_TRANSMITTER, data: encodeMint(message, attestation) };
  return instructionOf(frame, call, { token: null, amount: 0n });
}

function instructionOf(
  { transactionId: id, chain, from, fromPath, to }: OperateFrame,
  call: ContractCall,
  moves: Pick<Instruction, 'token' | 'amount' | 'burns'>,
): Instruction {
  return { id, purpose: 'bridge', chain, from, fromPath, to, toPath: null, tag: null, call, ...moves };
}

/** A route that the registry of this edge has open, with the very contracts and domains of this release. */
function openRoute({ registry }: BridgeRules, from: Chain, to: Chain): Ends | Refusal {
  const route = registry.routes.find((one) => isSameWay(one, { symbol: BRIDGED_SYMBOL, from, to }));
  const [burnt, minted] = [tokenOn(registry, from), tokenOn(registry, to)];
  return route !== undefined && isPinned(route) && burnt !== null && minted !== null
    ? { burnt, minted }
    : refuseToSign('route_not_open', { found: `${from} to ${to}` });
}

function tokenOn({ tokens }: Registry, chain: Chain): Token | null {
  const listed = tokens
    .filter(({ symbol }) => symbol === BRIDGED_SYMBOL)
    .flatMap(({ deployments }) => deployments)
    .find((one) => one.chain === chain && one.monitored && one.bridgeable && !one.deprecated);
  if (listed === undefined) return null;
  const { contract, decimals } = listed;
  return { chain, contract, symbol: BRIDGED_SYMBOL, decimals };
}

function derivedAt({ own }: BridgeRules, chain: Chain, which: 'treasury' | 'gasTank') {
  const path = own.paths(chain)[which],
    address = path === null ? null : own.addressAt(chain, path);
  return path === null || address === null ? null : { path, address };
}

/** H9: the derived treasury there, or an entry that names the chain: an address alone may be a stranger's there. */
function notAllowed(rules: BridgeRules, chain: Chain, { recipient, recipientPath }: Part): Refusal | null {
  const derived = derivedAt(rules, chain, 'treasury');
  const isOurs =
    recipientPath === null
      ? (rules.treasuries.get(chain) ?? []).some(
          ({ address, tag, isOfOneChain }) => isOfOneChain && tag === null && address === recipient,
        )
      : derived !== null && recipientPath === derived.path && recipient === derived.address;
  return isOurs ? null : refuseToSign('bridge_recipient_not_allowed', { found: recipient });
}

/** Nothing is approved that could not be burnt. */
function aboveCap(chain: Chain, { contract }: Token, amount: bigint, cap: bigint): Refusal {
  return refuse('AMOUNT_CAP_EXCEEDED', {
    chain,
    tokenContract: contract,
    cap: cap.toString(),
    spent: '0',
    amount: amount.toString(),
    setting: `EDGE_BRIDGE_CAP_${chain.toUpperCase()}`,
    next: 'raise the setting on every replica to at least the amount; nothing was signed now',
  });
}
