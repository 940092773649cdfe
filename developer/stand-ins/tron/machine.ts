/**
 * The contracts that the stand-in runs: a TRC-20 with a blacklist and a pause, one that sends TRX on, one that moves
 * tokens.
 */
import { addressOf, hexAddressOf, keccakHex } from './sdk.ts';
import { touch, type Trc20, type World } from './world.ts';

export interface Call {
  readonly caller: string;
  readonly contract: string;
  /** Hex. */
  readonly input: string;
  readonly callValue: bigint;
  readonly timeMs: number;
}

export interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly words: string;
}
export interface Internal {
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
  readonly note: string;
}

export interface Run {
  readonly outcome: 'SUCCESS' | 'REVERT';
  /** Hex: what is returned, or the reason of a revert. */
  readonly returned: string;
  readonly energy: bigint;
  /** The part of it that the dynamic model added. */
  readonly penalty: bigint;
  readonly logs: readonly Log[];
  readonly internals: readonly Internal[];
}

/**
 * Energy of calls; a transfer to an account that never held the token writes a new slot. Source: main network, USDT.
 */
export const ENERGY = {
  transfer: 64_285n,
  transferToNew: 130_285n,
  approve: 99_764n,
  view: 935n,
  revert: 9_031n,
  payout: 31_500n,
  disperse: 21_000n,
} as const;

export const selectorOf = (signature: string): string => keccakHex(signature).slice(0, 8);
const topicOf = (signature: string): string => keccakHex(signature);
const word = (value: bigint): string => value.toString(16).padStart(64, '0');
const addressWord = (address: string): string => hexAddressOf(address).slice(2).padStart(64, '0');
const words = (input: string): string[] => input.slice(8).match(/.{64}/g) ?? [];
const addressIn = (text: string): string => addressOf(Buffer.from(text.slice(24), 'hex'));
const numberIn = (text: string): bigint => BigInt(`0x${text}`);
const textReturn = (text: string): string => {
  const bytes = Buffer.from(text).toString('hex');
  return word(32n) + word(BigInt(bytes.length / 2)) + bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0');
};

class Reverted extends Error {
  readonly returned: string;
  constructor(reason: string) {
    super(reason);
    this.returned = reason === '' ? '' : `08c379a0${textReturn(reason)}`;
  }
}

interface Machine {
  readonly world: World;
  readonly call: Call;
  energy: bigint;
  readonly logs: Log[];
  readonly internals: Internal[];
}

type Method = (machine: Machine, token: Trc20, args: readonly string[]) => string;

/** A movement of a token: from, to, how much. */
type Movement = readonly [from: string, to: string, value: bigint];

function move(machine: Machine, token: Trc20, contract: string, [from, to, value]: Movement): void {
  if (token.paused) throw new Reverted('Pausable: paused');
  if (token.blacklist.has(from) || token.blacklist.has(machine.call.caller)) throw new Reverted('');
  const held = token.balances.get(from) ?? 0n;
  if (held < value) throw new Reverted('SafeMath: subtraction overflow');
  machine.energy += token.balances.has(to) ? ENERGY.transfer : ENERGY.transferToNew;
  token.balances.set(from, held - value);
  token.balances.set(to, (token.balances.get(to) ?? 0n) + value);
  const topics = [topicOf('Transfer(address,address,uint256)'), addressWord(from), addressWord(to)];
  machine.logs.push({ address: contract, topics, words: word(value) });
}

function spend(token: Trc20, owner: string, spender: string, value: bigint): void {
  const key = `${owner} ${spender}`,
    allowed = token.allowances.get(key) ?? 0n;
  if (allowed < value) throw new Reverted('SafeMath: subtraction overflow');
  token.allowances.set(key, allowed - value);
}

const moved = (token: Trc20): string => word(token.returnsFalse ? 0n : 1n);

const view =
  (read: (token: Trc20, args: readonly string[]) => string): Method =>
  (machine, token, args) => {
    machine.energy += ENERGY.view;
    return read(token, args);
  };

const TRC20: Readonly<Record<string, Method>> = {
  [selectorOf('transfer(address,uint256)')]: (machine, token, [to, value]) => {
    if (token.movesNothing) return word(0n);
    move(machine, token, machine.call.contract, [machine.call.caller, addressIn(to!), numberIn(value!)]);
    return moved(token);
  },
  [selectorOf('transferFrom(address,address,uint256)')]: (machine, token, [from, to, value]) => {
    spend(token, addressIn(from!), machine.call.caller, numberIn(value!));
    move(machine, token, machine.call.contract, [addressIn(from!), addressIn(to!), numberIn(value!)]);
    return moved(token);
  },
  [selectorOf('approve(address,uint256)')]: (machine, token, [spender, value]) => {
    const { caller, contract } = machine.call;
    machine.energy += ENERGY.approve;
    token.allowances.set(`${caller} ${addressIn(spender!)}`, numberIn(value!));
    machine.logs.push({
      address: contract,
      topics: [topicOf('Approval(address,address,uint256)'), addressWord(caller), addressWord(addressIn(spender!))],
      words: value!,
    });
    return word(1n);
  },
  [selectorOf('balanceOf(address)')]: view((token, [owner]) => word(token.balances.get(addressIn(owner!)) ?? 0n)),
  [selectorOf('totalSupply()')]: view(({ balances }) => word([...balances.values()].reduce((sum, held) => sum + held))),
  [selectorOf('decimals()')]: view((token) => word(BigInt(token.decimals))),
  [selectorOf('symbol()')]: view((token) => textReturn(token.symbol)),
  [selectorOf('name()')]: view((token) => textReturn(token.name)),
};

const PAY_OUT = selectorOf('payOut(address)');
const DISPERSE = selectorOf('disperse(address,address,uint256)');

function runContract(machine: Machine): string {
  const {
    world,
    call: { contract, input, callValue, caller, timeMs },
  } = machine;
  const held = world.contracts.get(contract)!,
    selector = input.slice(0, 8),
    args = words(input);
  if (held.kind === 'trc20') {
    const method = TRC20[selector];
    if (method === undefined) throw new Reverted('');
    return method(machine, held, args);
  }
  if (held.kind === 'payout' && selector === PAY_OUT) {
    const to = addressIn(args[0]!);
    machine.energy += ENERGY.payout;
    world.accounts.get(contract)!.balance -= callValue;
    touch(world, to, timeMs).balance += callValue;
    machine.internals.push({ from: contract, to, value: callValue, note: 'call' });
    return '';
  }
  const disperses = held.kind === 'disperser' && selector === DISPERSE;
  const token = disperses ? world.contracts.get(addressIn(args[0]!)) : undefined;
  if (token?.kind !== 'trc20') throw new Reverted('');
  const tokenContract = addressIn(args[0]!);
  machine.energy += ENERGY.disperse;
  spend(token, caller, contract, numberIn(args[2]!));
  machine.internals.push({ from: contract, to: tokenContract, value: 0n, note: 'call' });
  move(machine, token, tokenContract, [caller, addressIn(args[1]!), numberIn(args[2]!)]);
  return '';
}

/** Runs a call on a world; after a revert the world holds half of it, so that the caller runs it on a copy. */
export function runCall(world: World, call: Call): Run {
  const machine: Machine = { world, call, energy: 0n, logs: [], internals: [] };
  const held = world.contracts.get(call.contract),
    percent = held?.kind === 'trc20' ? held.penaltyPercent : 0n;
  const done = (outcome: Run['outcome'], returned: string, base: bigint): Run => {
    const penalty = (base * percent) / 100n;
    return {
      outcome,
      returned,
      energy: base + penalty,
      penalty,
      logs: outcome === 'SUCCESS' ? machine.logs : [],
      internals: machine.internals,
    };
  };
  try {
    const returned = runContract(machine);
    return done('SUCCESS', returned, machine.energy);
  } catch (error) {
    if (error instanceof Reverted) return done('REVERT', error.returned, ENERGY.revert);
    throw error;
  }
}
