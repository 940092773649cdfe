/**
 * What a token's contract runs now: its own code, the slots of proxies, and what it answers when it is
 * asked. Custom proxies that keep it elsewhere and do not say it are not seen. Treasury K18.
 */
import type { Endpoint } from '../chain.ts';
import type { TokenCode } from '../contract-call.ts';
import { keccak256 } from '../keccak.ts';
import { addressOfHex } from './address.ts';
import { decodeTransferResult, decodeWord, encodeTransfer } from './abi.ts';
import type { EvmNetwork } from './network.ts';
import { call, resultOf, tryAsk, tryAskAll } from './node.ts';
import { word } from './quantity.ts';
import { revertReasonOf } from './rejection.ts';
import { answerOf, BEACON_SLOT, SLOTS } from './token-hazards.ts';

const IMPLEMENTATION = '0x5c60da1b'; // implementation()
const DEPRECATED = '0x0e136b19'; // deprecated()
/** Two that hold nothing and that nobody has a reason to block. */
const [GIVER, TAKER] = ['11', '22'].map((byte) => addressOfHex(byte.repeat(20))) as [string, string];

/** Throws: ChainUnavailable. */
export async function readTokenCode(network: EvmNetwork, endpoint: Endpoint, contract: string): Promise<TokenCode> {
  const asked = (data: string, to = contract) => call('eth_call', { to, data }, 'latest');
  const answers = await tryAskAll(network, endpoint, [
    call('eth_getCode', contract, 'latest'),
    ...SLOTS.map((slot) => call('eth_getStorageAt', contract, slot, 'latest')),
    asked(IMPLEMENTATION),
    asked(DEPRECATED),
  ]);
  const [code, ...rest] = answers.map((answer) => answerOf(network, answer)),
    words = rest.map((one) => decodeWord(one) ?? 0n);
  const beacon = words[SLOTS.indexOf(BEACON_SLOT)]!,
    isDeprecated = words.at(-1) === 1n;
  const ofBeacon =
    beacon === 0n
      ? 0n
      : (decodeWord(answerOf(network, await tryAsk(network, endpoint, asked(IMPLEMENTATION, hexOf(beacon))))) ?? 0n);
  const all = [String(code ?? '').toLowerCase(), ...words.map(word), word(ofBeacon)].join('\n');
  return {
    text: Buffer.from(keccak256(Buffer.from(all))).toString('hex'),
    isDeprecated,
    declined: await declinedBy(network, endpoint, contract),
  };
}

const hexOf = (value: bigint): string => `0x${word(value).slice(-40)}`;

/** Why a transfer would fail: one of nothing, which needs no holder. */
async function declinedBy(network: EvmNetwork, endpoint: Endpoint, contract: string): Promise<string | null> {
  const transfer = { from: GIVER, to: contract, data: encodeTransfer(TAKER, 0n) };
  const called = await tryAsk(network, endpoint, call('eth_call', transfer, 'latest'));
  const reason = called.ok ? null : revertReasonOf(called.error);
  if (reason !== null) return reason;
  const result = decodeTransferResult(String(resultOf(network, call('eth_call'), called)));
  return result === 'done' ? null : 'the token refuses the transfer';
}
