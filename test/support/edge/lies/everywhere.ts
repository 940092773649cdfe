/** Lies that every family can be told, and what a signer says to each. */
import type { ReplayKey, Unsigned } from '../../../../chains/chain.ts';
import type { Refusal } from '../../../../protocol/errors.ts';
import type { Instruction, SigningPolicy } from '../../../../edge/signing/signers/signer.ts';
import type { Ask, Stage } from './stage.ts';

type Change = readonly [name: string, ask: Ask];

const otherKey = (key: ReplayKey): ReplayKey[] =>
  key.kind === 'outpoints'
    ? [
        { kind: 'outpoints', value: key.value.slice(1) },
        { kind: 'outpoints', value: [...key.value, `${'0'.repeat(64)}:0`] },
        { kind: 'nonce', value: 1 },
      ]
    : [
        { ...key, value: typeof key.value === 'number' ? key.value + 1 : String(BigInt(key.value) + 1n) } as ReplayKey,
        { ...key, value: typeof key.value === 'number' ? -1 : '' } as ReplayKey,
        { kind: 'outpoints', value: [String(key.value)] },
      ];

/** One part of the summary says something else than the bytes. */
function summaries({ thief, otherPath, token }: Stage, { unsigned }: Ask): [string, Partial<Unsigned>][] {
  const { tokenContract, kind, sendAll, feeMax, fee, amount, tag, payload } = unsigned;
  return [
    ['chain', { chain: unsigned.chain === 'eth' ? 'bsc' : 'eth' }],
    ['sender', { from: thief }],
    ['path of the sender', { fromPath: otherPath }],
    ['destination', { to: thief }],
    ['amount', { amount: amount + 1n }],
    ['token', { tokenContract: tokenContract === null ? token.contract : null }],
    ['tag', { tag: tag === null ? '99' : null }],
    ['kind', { kind: kind === 'payment' ? 'trustline' : 'payment' }],
    ['send-all', { sendAll: !sendAll }],
    ['a higher fee', { feeMax: feeMax + 1n }],
    ['a lower fee', { feeMax: feeMax - 1n }],
    ['no parts of the fee', { fee: {} }],
    ['an unknown part of the fee', { fee: { ...fee, gratuity: '1' } }],
    ...Object.keys(fee).map((part): [string, Partial<Unsigned>] => [
      `another ${part}`,
      { fee: { ...fee, [part]: `${String(fee[part])}1` } },
    ]),
    ...otherKey(unsigned.replayKey).map((replayKey, at): [string, Partial<Unsigned>] => [
      `replay key ${at}`,
      { replayKey },
    ]),
    ['an early height', { readAtHeight: 1 }],
    ['a late height', { readAtHeight: unsigned.readAtHeight + 1_000 }],
    ['no payload', { payload: '' }],
    ['half a payload', { payload: payload.slice(0, payload.length >> 1) }],
    ['a payload with a blank', { payload: `${payload} ` }],
    ['a payload that is none', { payload: 'AAAA' }],
  ];
}

/** The cloud built for an instruction that is not the one that was asked for. */
function instructions({ thief, otherPath, token }: Stage, { instruction }: Ask): [string, Partial<Instruction>][] {
  const { amount, purpose, from } = instruction,
    all = ['withdrawal', 'sweep', 'gas_funding', 'cancel', 'opt_in'] as const;
  return [
    ['chain', { chain: instruction.chain === 'eth' ? 'bsc' : 'eth' }],
    ['sender', { from: thief }],
    ['path of the sender', { fromPath: otherPath }],
    ['destination', { to: thief }],
    ['the sender as destination', { to: from }],
    ['a destination that is no address', { to: 'nowhere' }],
    ['amount', { amount: amount === 'all' ? 1n : amount + 1n }],
    ['send-all', { amount: amount === 'all' ? 0n : 'all' }],
    ['token', { token: instruction.token === null ? token : null }],
    ['decimals of the token', { token: { ...(instruction.token ?? token), decimals: 3 } }],
    ['tag', { tag: instruction.tag === null ? '99' : null }],
    ['a tag of the address', { tag: '99', tagOfAddress: true }],
    ...all
      .filter((one) => one !== purpose)
      .map((one): [string, Partial<Instruction>] => [`purpose ${one}`, { purpose: one }]),
  ];
}

const counterOf = ({ replayKey: { kind, value } }: Unsigned): bigint =>
  kind === 'nonce' || kind === 'sequence' ? BigInt(value) : 0n;

/** This edge's own bounds, clock, derivation and registry. */
function policies({ unsigned, policy: { nowMs } }: Ask): [string, Partial<SigningPolicy>][] {
  const counter = counterOf(unsigned);
  return [
    ['fee above the cap', { feeCap: unsigned.feeMax - 1n }],
    ['price above the cap', { feePriceCap: 0n }],
    ['fee out of proportion', { feeRatioBpsMax: 0, feeFloor: 0n }],
    ['fee out of proportion, to the floor', { feeRatioBpsMax: 0, feeFloor: unsigned.feeMax - 1n }],
    ['gas above the limit', { nativeGasLimit: 1n }],
    ['an empty registry', { catalogue: new Map() }],
    ['no own address', { addressAt: () => null }],
    ['no gas tank', { gasTank: null }],
    ['no treasury', { sweepDestinations: [] }],
    ['no clock', { nowMs: undefined as unknown as number }],
    ['a clock of 1970', { nowMs: 0 }],
    ['a clock an hour behind', { nowMs: (nowMs ?? 0) - 3_700_000 }],
    ['a clock a year ahead', { nowMs: (nowMs ?? 0) + 31_536_000_000 }],
    ['counter above the window', { replayWindow: { from: 0n, to: counter - 1n } }],
    ['counter below the window', { replayWindow: { from: counter + 1n, to: counter + 2n } }],
    ['counter above the first one', { firstNonceMax: counter - 1n }],
  ];
}

/** What the journal has: for this instruction, and for another one under the same key. */
function journals({ earlier }: Stage, ask: Ask): [string, SigningPolicy['journal']][] {
  const { payload } = ask.unsigned,
    journal = (forInstruction: string[], underKey: string[]): SigningPolicy['journal'] => ({
      forInstruction,
      withReplayKey: () => [...forInstruction, ...underKey],
    });
  const versions = Object.entries(earlier).flatMap(([name, make]) => {
    const version = make(ask);
    return version === null ? [] : [[name, version] as const];
  });
  return [
    ['the same payload', journal([payload], [])],
    ['the same payload of another instruction', journal([], [payload])],
    ['no payload at all', journal(['no payload'], [])],
    ['no payload at all of another instruction', journal([], ['no payload'])],
    ...versions.flatMap(([name, version]): [string, SigningPolicy['journal']][] => [
      [name, journal([version], [])],
      [`${name} of another instruction`, journal([], [version])],
      [`${name}, and the same payload`, journal([version, payload], [])],
    ]),
  ];
}

/** Every lie that there is for an honest ask, the honest one first. */
export function liesAbout(stage: Stage, ask: Ask): Change[] {
  return [
    ['honest', ask],
    ...Object.entries(stage.lies).flatMap(([name, lie]): Change[] => {
      const unsigned = lie(ask);
      return unsigned === null ? [] : [[`bytes: ${name}`, { ...ask, unsigned }]];
    }),
    ...summaries(stage, ask).map(([name, more]): Change => [
      `summary: ${name}`,
      { ...ask, unsigned: { ...ask.unsigned, ...more } },
    ]),
    ...instructions(stage, ask).map(([name, more]): Change => [
      `instruction: ${name}`,
      { ...ask, instruction: { ...ask.instruction, ...more } },
    ]),
    ...policies(ask).map(([name, more]): Change => [
      `own bound: ${name}`,
      { ...ask, policy: { ...ask.policy, ...more } },
    ]),
    ...journals(stage, ask).map(([name, journal]): Change => [
      `journal: ${name}`,
      { ...ask, policy: { ...ask.policy, journal } },
    ]),
  ];
}

/** What the signer says to each lie: refusal → lie → the kinds that it was told about. */
export type Answers = Record<string, Record<string, string>>;

/** Long texts are named by their number, so that a table can be read. */
export function answersOf(stage: Stage, texts: string[]): Answers {
  const answers: Answers = {};
  for (const [kind, honest] of Object.entries(stage.asks)) {
    for (const [lie, { unsigned, instruction, policy }] of liesAbout(stage, honest)) {
      const answer = textOf(stage.signer.check(stage.network, unsigned, instruction, policy), texts),
        lies = (answers[answer] ??= {});
      lies[lie] = lies[lie] === undefined ? kind : `${lies[lie]}, ${kind}`;
    }
  }
  return answers;
}

function textOf(refusal: Refusal | null, texts: string[]): string {
  if (refusal === null) return 'signed';
  return JSON.stringify(refusal, (_name, value: unknown) => {
    if (typeof value !== 'string' || value.length < 60 || !value.includes(' ')) return value;
    if (!texts.includes(value)) texts.push(value);
    return `text ${texts.indexOf(value)}`;
  });
}
