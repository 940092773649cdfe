/** Frames in which an honest cloud asks for the transactions of a bridge from Ethereum to Base. */
import { parseRegistry, shippedRegistry, type Registry } from '../../../chains/catalogue.ts';
import type { Unsigned } from '../../../chains/chain.ts';
import type { ContractCall } from '../../../chains/contract-call.ts';
import {
  encodeApprove,
  encodeBurn,
  encodeMint,
  MESSAGE_TRANSMITTER,
  messageOf,
  TOKEN_MESSENGER,
} from '../../../chains/evm/cctp.ts';
import { base, eth } from '../../../chains/evm/network.ts';
import { buildUnsigned } from '../../../chains/evm/unsigned.ts';
import { routesOf } from '../../../chains/routes.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import type { OperateFrame } from '../../../protocol/frames.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { attestedOf } from '../cctp/attester.ts';
import { inputsOf } from '../evm-inputs.ts';
import { EPOCH, jsonOf, own } from './operations.ts';

/** The shipped tokens with the routes of this release. */
export const ROUTED: Registry = (() => {
  const parsed = parseRegistry({ ...shippedRegistry, version: 2, routes: routesOf(shippedRegistry.tokens) });
  if (isRefusal(parsed)) throw new Error(JSON.stringify(parsed.details));
  return parsed;
})();

const usdcOn = (chain: 'eth' | 'base') =>
  ROUTED.tokens.find(({ symbol }) => symbol === 'USDC')!.deployments.find((one) => one.chain === chain)!.contract;
const [TANK, TREASURY] = ["m/44'/60'/0'/1/0", "m/44'/60'/0'/1/1"] as const;
/** One address on all EVM chains. */
export const [TANK_ADDRESS, TREASURY_ADDRESS] = [TANK, TREASURY].map((path) => own.addressAt('eth', path)!) as [
  string,
  string,
];
export const AMOUNT = 1_000_000_000n;

export interface BridgeAsk {
  readonly amount?: bigint;
  readonly maxFee?: bigint;
  readonly recipient?: string;
  readonly recipientPath?: string | null;
  readonly nonce?: number;
  /** Instead of the honest call. */
  readonly call?: ContractCall;
}

/** The frame of a role; a mint takes what the honest burn of the same ask was attested as. */
export function bridgeFrame(role: 'approve' | 'burn' | 'mint', ask: BridgeAsk = {}): OperateFrame {
  const { amount = AMOUNT, maxFee = 0n, recipient = TREASURY_ADDRESS, recipientPath = TREASURY, nonce = 7 } = ask;
  const burn = { from: 'eth', to: 'base', token: usdcOn('eth'), sender: TREASURY_ADDRESS } as const;
  const message = messageOf({ ...burn, recipient, amount, maxFee }),
    attested = attestedOf(message);
  const isMint = role === 'mint',
    chain = isMint ? ('base' as const) : ('eth' as const);
  const honest =
    role === 'approve'
      ? { contract: usdcOn('eth'), data: encodeApprove(amount) }
      : isMint
        ? { contract: MESSAGE_TRANSMITTER, data: encodeMint(attested.message, attested.attestation) }
        : { contract: TOKEN_MESSENGER, data: encodeBurn({ ...burn, recipient, amount, maxFee }) };
  const ends = {
    fromPath: isMint ? TANK : TREASURY,
    from: isMint ? TANK_ADDRESS : TREASURY_ADDRESS,
    to: isMint ? MESSAGE_TRANSMITTER : TOKEN_MESSENGER,
  };
  const token = isMint ? null : { chain, contract: usdcOn('eth'), symbol: 'USDC', decimals: 6 };
  const built = buildUnsigned(
    isMint ? base : eth,
    inputsOf({
      tokenBalance: token === null ? null : String(10n ** 15n),
      gas: { kind: 'estimated', units: '120000' },
      l1FeeUpperBound: isMint ? '1000000000' : null,
    }),
    { chain, ...ends, amount: isMint ? 0n : amount, token, tag: null, call: ask.call ?? honest },
    { kind: 'nonce', value: nonce },
  );
  if (isRefusal(built)) throw new Error(JSON.stringify(built));
  return {
    leaseEpoch: EPOCH,
    operationId: newId('brt', 1_800_000_000_000),
    transactionId: newId('txn', 1_800_000_000_000),
    role,
    chain,
    ...ends,
    toPath: null,
    tag: null,
    token: token?.contract ?? null,
    amount: isMint ? '0' : amount.toString(),
    sendAll: false,
    bridge: {
      otherChain: isMint ? 'eth' : 'base',
      recipient,
      recipientPath,
      maxFee: maxFee.toString(),
      message: isMint ? attested.message : null,
      attestation: isMint ? attested.attestation : null,
    },
    unsigned: payloadOf(built),
  };
}

/** As it crosses the wire: an edge makes the call itself. */
function payloadOf({ call: _, ...unsigned }: Unsigned): OperateFrame['unsigned'] {
  return jsonOf(unsigned);
}
