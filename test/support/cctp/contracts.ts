/**
 * The contracts of CCTP v2 on an anvil, at their real addresses, for tests: compiled from `contracts.sol`. Treasury
 * H13.
 */
import { readFileSync } from 'node:fs';
import { AbiCoder, computeAddress, getAddress, id } from 'ethers';
import solc from 'solc';
import { shippedRegistry } from '../../../chains/catalogue.ts';
import { BRIDGED_SYMBOL, domainOf, MESSAGE_TRANSMITTER, TOKEN_MESSENGER } from '../../../chains/evm/cctp.ts';
import { feeOracleCode } from '../evm-contracts.ts';
import { ATTESTER } from './attester.ts';

export type BridgedChain = 'eth' | 'avax' | 'base' | 'polygon';

/** What is asked of a node: `startAnvil` of tests and that of developer mode both have it. */
export interface Node {
  readonly url: string;
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>;
}

export interface BridgedLedger {
  readonly chain: BridgedChain;
  readonly node: Node;
  /** USDC of the chain. */
  readonly token: string;
  mint(to: string, amount: bigint): Promise<void>;
  balanceOf(owner: string): Promise<bigint>;
  /** A mint that succeeds and makes nothing. */
  setMintsNothing(value: boolean): Promise<void>;
  /** Of `getMinFeeAmount`, in thousandths of a basis point. */
  setMinFee(value: bigint): Promise<void>;
  /** Sends from an address of which nobody has a key; it is in a block when it is answered. */
  send(from: string, to: string, data: string): Promise<string>;
}

interface Compiled {
  readonly contracts?: Readonly<
    Record<string, Readonly<Record<string, { evm: { deployedBytecode: { object: string } } }>>>
  >;
  readonly errors?: readonly { severity: string; formattedMessage: string }[];
}

let compiled: Readonly<Record<string, string>> | null = null;

/** Runtime code of each contract. Throws: Error with what the compiler says. */
function codes(): Readonly<Record<string, string>> {
  compiled ??= compile(readFileSync(new URL('contracts.sol', import.meta.url), 'utf8'));
  return compiled;
}

function compile(content: string): Readonly<Record<string, string>> {
  const input = {
    language: 'Solidity',
    sources: { 'contracts.sol': { content } },
    settings: { outputSelection: { '*': { '*': ['evm.deployedBytecode.object'] } } },
  };
  const { contracts, errors = [] } = JSON.parse(solc.compile(JSON.stringify(input))) as Compiled;
  const wrong = errors.filter(({ severity }) => severity === 'error');
  if (wrong.length > 0) throw new Error(wrong.map(({ formattedMessage }) => formattedMessage).join('\n'));
  const found = Object.entries(contracts?.['contracts.sol'] ?? {});
  return Object.fromEntries(found.map(([name, { evm }]) => [name, `0x${evm.deployedBytecode.object}`]));
}

const abi = AbiCoder.defaultAbiCoder();
/** Call data: `call('mint(address,uint256)', to, amount)`. */
export function call(signature: string, ...values: readonly unknown[]): string {
  const types = signature.slice(signature.indexOf('(') + 1, -1);
  return id(signature).slice(0, 10) + abi.encode(types === '' ? [] : types.split(','), values).slice(2);
}

const OWNER = '0x00000000000000000000000000000000000000f1';

export const tokenOn = (chain: BridgedChain): string =>
  shippedRegistry.tokens
    .find(({ symbol }) => symbol === BRIDGED_SYMBOL)!
    .deployments.find((one) => one.chain === chain && one.bridgeable)!.contract;

/** Puts token, messenger, transmitter and the fee oracle of an L2 onto a chain. */
export async function openLedger(chain: BridgedChain, node: Node): Promise<BridgedLedger> {
  const token = tokenOn(chain),
    { StandInToken, StandInMessenger, StandInTransmitter } = codes();
  const put = (address: string, code: string) => node.rpc('anvil_setCode', [address, code]);
  await put(token, StandInToken!);
  await put(TOKEN_MESSENGER, StandInMessenger!);
  await put(MESSAGE_TRANSMITTER, StandInTransmitter!);
  if (chain === 'base') await put('0x420000000000000000000000000000000000000F', feeOracleCode(10n ** 9n, null));
  const send = async (from: string, to: string, data: string): Promise<string> => {
    await node.rpc('anvil_impersonateAccount', [from]);
    await node.rpc('anvil_setBalance', [from, `0x${(10n ** 20n).toString(16)}`]);
    const txid = await node.rpc<string>('eth_sendTransaction', [{ from, to, data, gas: '0x1e8480' }]);
    await node.rpc('anvil_mine', ['0x1']);
    const receipt = await node.rpc<{ status: string } | null>('eth_getTransactionReceipt', [txid]);
    if (receipt?.status !== '0x1') throw new Error(`${chain}: ${data.slice(0, 10)} failed`);
    return txid;
  };
  const own = (to: string, signature: string, ...values: readonly unknown[]) =>
    send(OWNER, to, call(signature, ...values));
  const attester = computeAddress(ATTESTER.publicKey);
  await own(
    MESSAGE_TRANSMITTER,
    'setUp(uint32,address,address)',
    domainOf(chain),
    attester,
    getAddress(TOKEN_MESSENGER),
  );
  await own(TOKEN_MESSENGER, 'setUp(address,address)', getAddress(MESSAGE_TRANSMITTER), getAddress(token));
  return {
    chain,
    node,
    token,
    send,
    mint: async (to, amount) => void (await own(token, 'mint(address,uint256)', to, amount)),
    setMintsNothing: async (value) => void (await own(token, 'setMintsNothing(bool)', value)),
    setMinFee: async (value) => void (await own(TOKEN_MESSENGER, 'setMinFee(uint256)', value)),
    balanceOf: async (owner) =>
      BigInt(await node.rpc<string>('eth_call', [{ to: token, data: call('balanceOf(address)', owner) }, 'latest'])),
  };
}
