/**
 * The instruction of an operation, made here from role and paths: what the cloud writes beside them is compared and
 * never taken over. Treasury E1, E2.
 *
 *   role    from                                           to
 *   sweep   a deposit path of this phrase, or a            the derived treasury, or an entry of
 *           registered source                              EDGE_SWEEP_TREASURY_ALLOWLIST with its tag
 *   fund    the gas tank                                   a deposit path of this phrase, or a registered source;
 *                                                          native, at most EDGE_FEE_CAP_<CHAIN>
 *   approve, burn, mint                                    bridge.ts
 *
 * Which payload the instruction allows is the signer's to judge (signing/signers/rules.ts).
 */
import type { Token } from '../../chains/chain.ts';
import { networkOf } from '../../chains/registry.ts';
import { tronOf } from '../../chains/tron/network.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import type { OperateFrame } from '../../protocol/frames.ts';
import { FAMILY_OF, type Chain, type Family, type OperationRole } from '../../protocol/slugs.ts';
import type { Keystore } from '../keystore/keystore.ts';
import type { OwnAddresses } from '../signing/own-addresses.ts';
import { feeBoundsOf, overBound, type FeeSettings } from '../signing/signers/fee-bounds.ts';
import { refuseToSign, type Instruction } from '../signing/signers/signer.ts';
import { bridgeOf, type BridgeRules } from './bridge.ts';

export interface OperationRules extends BridgeRules {
  readonly own: Pick<OwnAddresses, 'addressAt' | 'paths' | 'depositPosition'>;
  readonly keystore: Pick<Keystore, 'refuseToLend'>;
  readonly fees: FeeSettings;
  /** EDGE_BTC_SWEEPS. */
  readonly btcSweeps: boolean;
}

/** Where an operation exists. A fee payer needs no funding; Bitcoin pays its fee from what it moves. */
const FAMILIES: Readonly<Record<OperationRole, ReadonlySet<Family>>> = {
  sweep: new Set(['evm', 'tron', 'sol', 'xrp', 'xlm', 'btc']),
  fund: new Set(['evm', 'tron', 'xrp']),
  approve: new Set(['evm']),
  burn: new Set(['evm']),
  mint: new Set(['evm']),
};

type Ends = Pick<Instruction, 'from' | 'to' | 'toPath' | 'tag' | 'tagOfAddress'>;

/** Refuses: SIGNED_BATCH_REJECTED with the reason. */
export function operationOf(rules: OperationRules, frame: OperateFrame): Instruction | Refusal {
  const { chain, role, transactionId, fromPath, sendAll } = frame;
  if (!FAMILIES[role].has(FAMILY_OF[chain])) return refuseToSign('role_not_on_chain', { found: `${role} on ${chain}` });
  if (role === 'approve' || role === 'burn' || role === 'mint') return bridgeOf(rules, frame, role);
  if (frame.bridge !== undefined) return refuseToSign('bridge_part', { expected: 'none', found: role });
  const unfit = FAMILY_OF[chain] === 'btc' ? unfitCoins(rules, frame) : null;
  if (unfit !== null) return unfit;
  const ends = role === 'sweep' ? sweepEnds(rules, frame) : fundEnds(rules, frame);
  if (isRefusal(ends)) return ends;
  const amount = BigInt(frame.amount);
  const token = role === 'sweep' ? sweptToken(rules, frame) : fundedCoin(rules, frame, amount);
  if (token !== null && isRefusal(token)) return token;
  return {
    id: transactionId,
    purpose: role === 'sweep' ? 'sweep' : 'gas_funding',
    chain,
    ...ends,
    fromPath,
    amount: sendAll ? 'all' : amount,
    token,
  };
}

/** Bitcoin: where its owner lets it, and the whole of the coins into one output. */
function unfitCoins({ btcSweeps }: OperationRules, { sendAll, amount }: OperateFrame): Refusal | null {
  if (!btcSweeps) return refuseToSign('btc_sweeps_off');
  return sendAll ? null : refuseToSign('amount_mismatch', { expected: 'all', found: amount });
}

function sweepEnds({ own, keystore, treasuries }: OperationRules, frame: OperateFrame): Ends | Refusal {
  const { chain, fromPath, toPath, to, tag } = frame;
  if (!isDeposit({ own, keystore }, chain, fromPath))
    return refuseToSign('from_not_a_deposit_path', { found: fromPath });
  const from = own.addressAt(chain, fromPath);
  if (from === null || from !== frame.from) return refuseToSign('from_mismatch', { expected: from, found: frame.from });
  const notAllowed = refuseToSign('sweep_destination_not_allowed', {
    found: tag === null ? to : `${to} with tag ${tag}`,
  });
  if (toPath === null) {
    const entry = treasuries.get(chain)?.find((one) => one.address === to && one.tag === tag);
    if (entry === undefined) return notAllowed;
    return { from, to: entry.address, toPath: null, tag, ...(tag === null ? {} : { tagOfAddress: true }) };
  }
  const derived = own.paths(chain).treasury;
  const isTreasury = derived !== null && toPath === derived && own.addressAt(chain, derived) === to && tag === null;
  return isTreasury ? { from, to, toPath: null, tag: null } : notAllowed;
}

function fundEnds({ own, keystore }: OperationRules, frame: OperateFrame): Ends | Refusal {
  const { chain, fromPath, toPath, to } = frame,
    { gasTank } = own.paths(chain);
  const from = gasTank === null ? null : own.addressAt(chain, gasTank);
  if (from === null || fromPath !== gasTank || frame.from !== from)
    return refuseToSign('not_the_gas_tank', { expected: from, found: frame.from });
  const isOwn = toPath !== null && isDeposit({ own, keystore }, chain, toPath) && own.addressAt(chain, toPath) === to;
  if (!isOwn || frame.tag !== null) return refuseToSign('funding_destination_not_derived', { found: to });
  return { from, to, toPath, tag: null };
}

/** A customer's address of this edge's phrase, or a registered one of a source that is not purged. */
function isDeposit({ own, keystore }: Pick<OperationRules, 'own' | 'keystore'>, chain: Chain, path: string): boolean {
  if (!path.startsWith('[')) return own.depositPosition(chain, path) !== null;
  return keystore.refuseToLend !== undefined && keystore.refuseToLend(chain, path) === null;
}

/** The registry's own record: neither contract nor decimals are the cloud's word. */
function sweptToken({ registry }: OperationRules, { chain, token }: OperateFrame): Token | null | Refusal {
  if (token === null) return null;
  const listed = registry.tokens
    .flatMap(({ symbol, deployments }) => deployments.map((one) => ({ symbol, ...one })))
    .find((one) => one.chain === chain && one.contract === token && one.monitored);
  if (listed === undefined) return refuseToSign('token_not_in_registry', { found: token });
  if (!listed.sweepable) return refuseToSign('token_not_sweepable', { found: token });
  const { contract, symbol, decimals, feeOnTransfer } = listed;
  return { chain, contract, symbol, decimals, ...(feeOnTransfer === true ? { feeOnTransfer: true } : {}) };
}

/** Gas is the native coin, an exact amount, and no more than one transaction's fee may be. */
function fundedCoin({ fees }: OperationRules, { chain, token, sendAll }: OperateFrame, amount: bigint): null | Refusal {
  if (token !== null) return refuseToSign('token_mismatch', { expected: null, found: token });
  if (sendAll) return refuseToSign('amount_mismatch', { expected: 'an amount', found: 'all' });
  const activation = FAMILY_OF[chain] === 'tron' ? tronOf(networkOf(chain)).activationSunMax : 0n;
  const bound = feeBoundsOf(chain, fees).feeCap + activation;
  return amount > bound ? overBound('funding_amount', `EDGE_FEE_CAP_${chain.toUpperCase()}`, bound, amount) : null;
}
