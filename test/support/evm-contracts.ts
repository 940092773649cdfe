/**
 * Small EVM contracts as bytecode, assembled here: ERC-20s of the shapes that exist (no return value, `false` instead
 * of a revert, bytes32 symbol, a part kept, blocked senders, no metadata), a contract that passes value on, and the
 * fee predeploy of an L2. A balance is kept in the storage slot of the owner's address.
 */

/** One instruction, a number to push, a label (`:name`) or a push of a label's place (`@name`). */
type Part = string | bigint | number;

const OPCODES: Readonly<Record<string, number>> = {
  STOP: 0x00,
  ADD: 0x01,
  MUL: 0x02,
  SUB: 0x03,
  DIV: 0x04,
  LT: 0x10,
  GT: 0x11,
  EQ: 0x14,
  ISZERO: 0x15,
  SHR: 0x1c,
  CALLER: 0x33,
  CALLVALUE: 0x34,
  CALLDATALOAD: 0x35,
  CALLDATASIZE: 0x36,
  POP: 0x50,
  MLOAD: 0x51,
  MSTORE: 0x52,
  SLOAD: 0x54,
  SSTORE: 0x55,
  JUMP: 0x56,
  JUMPI: 0x57,
  GAS: 0x5a,
  JUMPDEST: 0x5b,
  DUP1: 0x80,
  DUP2: 0x81,
  DUP3: 0x82,
  DUP4: 0x83,
  SWAP1: 0x90,
  SWAP2: 0x91,
  LOG3: 0xa3,
  CALL: 0xf1,
  RETURN: 0xf3,
  DELEGATECALL: 0xf4,
  REVERT: 0xfd,
  SELFDESTRUCT: 0xff,
};

/** Bytecode of a program, `0x` hex. */
export function assemble(parts: readonly Part[]): string {
  const places = new Map<string, number>();
  let at = 0;
  const sized = parts.map((part) => {
    if (typeof part === 'string' && part.startsWith(':')) {
      places.set(part.slice(1), at);
      at += 1;
      return part;
    }
    at += typeof part === 'string' ? (part.startsWith('@') ? 3 : 1) : pushOf(BigInt(part)).length / 2;
    return part;
  });
  return `0x${sized
    .map((part) => {
      if (typeof part !== 'string') return pushOf(BigInt(part));
      if (part.startsWith(':')) return '5b';
      if (part.startsWith('@')) return `61${places.get(part.slice(1))!.toString(16).padStart(4, '0')}`;
      return OPCODES[part]!.toString(16).padStart(2, '0');
    })
    .join('')}`;
}

/** PUSH1 to PUSH32 of a number. */
function pushOf(value: bigint): string {
  const hex = value.toString(16),
    even = hex.length % 2 === 0 ? hex : `0${hex}`;
  return (0x5f + even.length / 2).toString(16) + even;
}

const TRANSFER_TOPIC = 0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3efn;
/** Slots of blocked senders lie far above those of balances. */
const BLOCKED = 1n << 200n;

const wordsOf = (text: string) => Buffer.from(text).toString('hex');

/** Leaves memory as an ABI string from 0 and returns it. At most 32 bytes. */
function returnText(text: string): Part[] {
  const padded = BigInt(`0x${wordsOf(text).padEnd(64, '0')}`);
  return [32, 0, 'MSTORE', text.length, 32, 'MSTORE', padded, 64, 'MSTORE', 96, 0, 'RETURN'];
}

const returnWord = (value: bigint): Part[] => [value, 0, 'MSTORE', 32, 0, 'RETURN'];

/** Reverts with Error(string) of at most 64 bytes. */
function revertWith(text: string): Part[] {
  const hex = wordsOf(text).padEnd(128, '0');
  return [
    0x08c379a0n << 224n,
    0,
    'MSTORE',
    32,
    4,
    'MSTORE',
    text.length,
    36,
    'MSTORE',
    BigInt(`0x${hex.slice(0, 64)}`),
    68,
    'MSTORE',
    BigInt(`0x${hex.slice(64)}`),
    100,
    'MSTORE',
    132,
    0,
    'REVERT',
  ];
}

export interface TokenShape {
  decimals?: number | null; // null: the function is missing
  symbol?: string | null;
  /** `bytes32` as MKR has it. */
  symbolKind?: 'string' | 'bytes32';
  /** What `transfer` returns: a one, nothing (USDT), or a zero without moving anything. */
  returns?: 'true' | 'nothing' | 'false';
  /** Part that the contract keeps of a transfer; the log names the whole amount. */
  keepsBps?: number;
}

/**
 * ERC-20 runtime code: transfer, balanceOf, decimals, symbol, name, and for tests mint(address,uint256) and
 * block(address).
 */
export function tokenCode(shape: TokenShape = {}): string {
  const { decimals = 18, symbol = 'TKN', symbolKind = 'string', returns = 'true', keepsBps = 0 } = shape;
  const on = (selector: number, label: string): Part[] => ['DUP1', selector, 'EQ', `@${label}`, 'JUMPI'];
  const TO: Part[] = [4, 'CALLDATALOAD'],
    AMOUNT: Part[] = [36, 'CALLDATALOAD'];
  const credited: Part[] = [...AMOUNT, keepsBps, ...AMOUNT, 'MUL', 10_000, 'SWAP1', 'DIV', 'SWAP1', 'SUB'];
  const creditTo = (amount: Part[]): Part[] => [...amount, ...TO, 'SLOAD', 'ADD', ...TO, 'SSTORE'];
  const log = (from: Part): Part[] => [...AMOUNT, 0, 'MSTORE', ...TO, from, TRANSFER_TOPIC, 32, 0, 'LOG3'];
  return assemble([
    0,
    'CALLDATALOAD',
    224,
    'SHR',
    ...on(0xa9059cbb, 'transfer'),
    ...on(0x70a08231, 'balance'),
    ...on(0x40c10f19, 'mint'),
    ...on(0xe4962195, 'block'),
    ...(decimals === null ? [] : on(0x313ce567, 'decimals')),
    ...(symbol === null ? [] : [...on(0x95d89b41, 'symbol'), ...on(0x06fdde03, 'symbol')]),
    0,
    0,
    'REVERT',
    ':transfer',
    ...(returns === 'false'
      ? returnWord(0n)
      : [
          'CALLER',
          BLOCKED,
          'ADD',
          'SLOAD',
          '@blocked',
          'JUMPI',
          ...AMOUNT,
          'CALLER',
          'SLOAD',
          'LT',
          '@short',
          'JUMPI',
          ...AMOUNT,
          'CALLER',
          'SLOAD',
          'SUB',
          'CALLER',
          'SSTORE',
          ...creditTo(credited),
          ...log('CALLER'),
          ...(returns === 'true' ? returnWord(1n) : ['STOP']),
        ]),
    ':balance',
    ...TO,
    'SLOAD',
    0,
    'MSTORE',
    32,
    0,
    'RETURN',
    ':mint',
    ...creditTo(AMOUNT),
    ...log(0),
    'STOP',
    ':block',
    1,
    ...TO,
    BLOCKED,
    'ADD',
    'SSTORE',
    'STOP',
    ...(decimals === null ? [] : [':decimals', ...returnWord(BigInt(decimals))]),
    ...(symbol === null
      ? []
      : [
          ':symbol',
          ...(symbolKind === 'string'
            ? returnText(symbol)
            : returnWord(BigInt(`0x${wordsOf(symbol).padEnd(64, '0')}`))),
        ]),
    ':short',
    ...revertWith('ERC20: transfer amount exceeds balance'),
    ':blocked',
    ...revertWith('Blacklistable: account is blacklisted'),
  ] as Part[]);
}

/**
 * Passes its value on to the address in its call data, and fails if that fails. With a second word 1 it then reverts.
 */
export const FORWARDER_CODE = assemble([
  0,
  0,
  0,
  0,
  'CALLVALUE',
  0,
  'CALLDATALOAD',
  'GAS',
  'CALL',
  'ISZERO',
  '@fail',
  'JUMPI',
  32,
  'CALLDATALOAD',
  '@fail',
  'JUMPI',
  'STOP',
  ':fail',
  0,
  0,
  'REVERT',
]);

/** Sends its whole balance to the address in its call data by ending itself. */
export const SELFDESTRUCT_CODE = assemble([0, 'CALLDATALOAD', 'SELFDESTRUCT']);

/** Takes value and writes storage, so that a plain 21,000 gas is not enough. */
export const EXPENSIVE_RECEIVER_CODE = assemble(['CALLVALUE', 0, 'SSTORE', 'STOP']);

/** The fee predeploy of an L2: one bound for every size; with an operator fee or without that function. */
export function feeOracleCode(boundWei: bigint, operatorFeeWei: bigint | null): string {
  const operator: Part[] = operatorFeeWei === null ? [] : ['DUP1', 0x275aedd2, 'EQ', '@operator', 'JUMPI'];
  return assemble([
    0,
    'CALLDATALOAD',
    224,
    'SHR',
    'DUP1',
    0xf1c7a58b,
    'EQ',
    '@bound',
    'JUMPI',
    ...operator,
    0,
    0,
    'REVERT',
    ':bound',
    ...returnWord(boundWei),
    ...(operatorFeeWei === null ? [] : [':operator', ...returnWord(operatorFeeWei)]),
  ]);
}
