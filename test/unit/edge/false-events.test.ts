/**
 * Every field of every event of the catalogue, falsified by a cloud (found F12): without any node of the company's it
 * does not leave the edge, it is an alarm there, or it stands here as the cloud's word alone, as docs/webhooks.md says.
 */
import test from 'ava';
import { Instructions } from '../../../edge/signing/instructions.ts';
import { OwnAddresses } from '../../../edge/signing/own-addresses.ts';
import { createPhraseKeystore } from '../../../edge/keystore/phrase-keystore.ts';
import { seedOf } from '../../../edge/keystore/keys.ts';
import { createDepositCheck, judgeDelivery, takenKeysIn } from '../../../edge/webhooks/deposit-check.ts';
import { eventId } from '../../../protocol/node/ids.ts';
import { exampleOf } from '../../../protocol/schema/events.ts';
import { EVENTS, type EventName } from '../../../protocol/slugs.ts';
import type { Instruction } from '../../../edge/signing/signers/signer.ts';
import { newStorage } from '../../support/edge/disk.ts';
import { FIRST, PHRASE, SECOND } from '../../support/edge/edges.ts';
import { unsignedFor } from '../../support/edge/families.ts';
import { frameOfVersion, registryIn, versionOf } from '../../support/edge/registry.ts';

const DEPOSIT = /^(?:deposit_|address_activated)/,
  PAYMENT = /^payment_(?!link)/,
  WITHDRAWAL = /^withdrawal_/;
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const own = new OwnAddresses(createPhraseKeystore(seedOf(PHRASE, '')));
const TRANSACTION = `txn_${'a'.repeat(26)}`;
type Json = Record<string, unknown>;

const instructions = new Instructions(newStorage(), () => 1);
const unsigned = { ...(await unsignedFor({ chain: 'eth' })), payload: '0x02aa' };
const instruction: Instruction = {
  id: TRANSACTION,
  chain: 'eth',
  from: unsigned.from,
  to: unsigned.to,
  amount: unsigned.amount,
  token: null,
  tag: null,
} as unknown as Instruction;
instructions.record({ instruction, unsigned });
instructions.journal({ instruction, unsigned });
const TXID = `0x${'5'.repeat(64)}`;
instructions.noteSigned(TRANSACTION, unsigned.payload, { chain: 'eth', payload: '0x02ff', txid: TXID });

/** As an honest cloud tells it. */
function honest(event: EventName): Json {
  const example = exampleOf(event) as unknown as Json & { data: Json };
  const data: Json = { ...example.data };
  if (DEPOSIT.test(event))
    Object.assign(data, {
      chain: 'eth',
      txid: TXID,
      address: SECOND,
      userRef: 'alice',
      tag: null,
      tokenContract: USDC,
      tokenSymbol: 'USDC',
      amount: '1500000',
      amountFormatted: '1.5',
      decimals: 6,
    });
  if (PAYMENT.test(event))
    Object.assign(data, {
      chain: 'eth',
      asset: 'USDC',
      tokenContract: USDC,
      decimals: 6,
      amount: '10000000',
      amountFormatted: '10',
      address: FIRST,
      derivationPath: "m/44'/60'/0'/0/0",
    });
  if (WITHDRAWAL.test(event)) {
    const money = {
      amount: '10000000000000000',
      amountFormatted: '0.01',
      decimals: 18,
      tokenContract: null,
      tokenSymbol: 'ETH',
    };
    Object.assign(data, money, {
      transactionId: TRANSACTION,
      txid: TXID,
      from: unsigned.from,
      to: unsigned.to,
      userRef: 'bob',
      tag: 't',
      chainTag: null,
    });
  }
  const { chain, txid, outputIndex, incarnation } = data as {
    chain: string;
    txid: string;
    outputIndex: number;
    incarnation: number;
  };
  const id =
    DEPOSIT.test(event) || PAYMENT.test(event) ? eventId(chain, txid, outputIndex, incarnation, event) : example['id'];
  return { ...example, id, data };
}

const registry = registryIn();
const keys = takenKeysIn(newStorage());
const check = (alarms: string[], { catalogueOf } = registry) =>
  createDepositCheck({
    nodes: null,
    environment: 'live',
    keys,
    catalogueOf,
    monotonicMs: () => 0,
    isLentAt: (...where) => own.isLentAt(...where),
    holderOf: HOLDERS,
    withdrawals: { environment: 'live', instructions, issued: { holderOf: HOLDERS } as never, catalogueOf },
    onDifference: (reason) => alarms.push(reason),
  });
const HOLDERS = async (_chain: unknown, address: string) =>
  address === SECOND
    ? { userRef: 'alice', tag: null }
    : address === unsigned.from && asksWithdrawal
      ? { userRef: 'bob', tag: 't' }
      : null;
/** The first address pays in the one case, and is a payer's in the other. */
let asksWithdrawal = false;

/** `refused`, `alarm`, or `left` where nobody is told. */
async function judged(
  body: Json,
  headers: Record<string, string> = { 'webhook-id': String(body['id']) },
  by = registry,
): Promise<string> {
  const alarms: string[] = [];
  asksWithdrawal = WITHDRAWAL.test(String(body['event']));
  const log = {
    info: () => undefined,
    warn: () => undefined,
    alarm: (event: string) => void alarms.push(event),
    fault: () => undefined,
    alarms: 0,
  };
  const verdict = await judgeDelivery(
    check(alarms, by),
    { deliveryId: 'dlv_1', body: JSON.stringify(body), headers },
    {
      log,
      timers: { pause: async () => undefined },
      monotonicMs: () => 0,
      isStopping: () => true,
    },
  );
  if (verdict !== 'post') return alarms.length > 0 ? 'refused' : `${verdict} in silence`;
  return alarms.length > 0 ? 'alarm' : 'left';
}

/** Other values of one field, each of which somebody could believe. */
const kindOf = (event: string): string => event.replace(/_[a-z]+$/, '');

function liesAbout(value: unknown, name: string): unknown[] {
  if (name === 'event') return EVENTS.filter((other) => other !== value && kindOf(other) === kindOf(String(value)));
  if (name === 'address') return ['0x8617E340B3D01FA5F11F306F4090FD50E238070D', String(value).toLowerCase()];
  if (typeof value === 'number') return [value + 1];
  if (typeof value === 'boolean') return [!value];
  if (value === null) return ['other', 7];
  if (typeof value !== 'string') return [];
  const digit = value.replace(/[0-9](?=[^0-9]*$)/, (found) => String((Number(found) + 1) % 10));
  return [
    digit === value ? `${value}x` : digit,
    value === value.toUpperCase() ? value.toLowerCase() : value.toUpperCase(),
  ].filter((lie) => lie !== value);
}

function* fieldsOf(value: Json, path: string[] = []): Generator<string[]> {
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner === 'object' && inner !== null) yield* fieldsOf(inner as Json, [...path, name]);
    else yield [...path, name];
  }
}

function withLie(body: Json, path: readonly string[], lie: unknown): Json {
  const copy = structuredClone(body);
  const holder = path.slice(0, -1).reduce<Json>((inner, name) => inner[name] as Json, copy);
  holder[path.at(-1)!] = lie;
  return copy;
}

/** Events that may be told as another one of their kind. */
const RENAMED: ReadonlySet<EventName> = new Set<EventName>([
  'payment_link_created',
  'payment_link_closed',
  'withdrawal_confirmed',
  'edge_offline',
  'edge_online',
  'sweep_completed',
  'sweep_paused',
  'bridge_completed',
  'bridge_stalled',
]);
/** What the cloud alone knows: docs/webhooks.md. With EDGE_VERIFY_RPC a node knows the rest of a deposit. */
const OF_ALL = ['confirmations', 'threshold', 'timestamp'];
const OF_DEPOSITS = ['address', 'chainTag', 'depositId', 'height', 'blockHash', 'paymentId', 'linkId'];
const REVERSED = ['reversedFrom', 'depth'];
const OF_WITHDRAWALS = ['height', 'blockHash'];
const FROM_STORY = ['depositId', 'height', 'blockHash', 'late', 'addressReused'];
const FROM_LINK = ['paymentId', 'linkId', 'createdVia', 'mode', 'status', 'invoiceNumber', 'customerEmail'];
const FROM_PAYER = ['customerName', 'metadata.order'];
const FROM_SUMS = ['amountDue', 'amountPaid', 'amountConfirmed', 'amountRemaining', 'amountOverpaid', 'amountShort'];
const OF_PAYMENTS = [...FROM_STORY, ...FROM_LINK, ...FROM_PAYER, ...FROM_SUMS];
const CLOUDS_WORD: Partial<Record<EventName, readonly string[]>> = {
  deposit_detected: OF_DEPOSITS,
  deposit_confirmed: OF_DEPOSITS,
  address_activated: OF_DEPOSITS,
  deposit_reversed: [...OF_DEPOSITS, ...REVERSED],
  withdrawal_broadcast: OF_WITHDRAWALS,
  withdrawal_confirmed: [...OF_WITHDRAWALS, 'fee'],
  withdrawal_failed: [...OF_WITHDRAWALS, 'failure.code', 'failure.reason'],
  payment_detected: OF_PAYMENTS,
  payment_confirmed: OF_PAYMENTS,
  payment_underpaid: OF_PAYMENTS,
  payment_late: OF_PAYMENTS,
  payment_reversed: [...OF_PAYMENTS, ...REVERSED],
  payment_unmatched: [...OF_PAYMENTS, 'reason', 'expected.chain', 'expected.asset', 'expected.tokenContract'],
};

test('found F12: each field of each event is compared, rings, or is listed as the word of the cloud alone', async (t) => {
  const left: Record<string, string[]> = {};
  for (const event of EVENTS) {
    const body = honest(event);
    t.is(await judged(body), 'left', `${event}: the truth leaves`);
    for (const path of fieldsOf(body)) {
      const verdicts = new Set<string>();
      for (const lie of liesAbout(
        path.reduce<unknown>((inner, name) => (inner as Json)[name], body),
        path.at(-1)!,
      )) {
        const false_ = withLie(body, path, lie);
        // A cloud that lies about the id of an event lies in the header too.
        verdicts.add(await judged(false_));
      }
      for (const verdict of verdicts)
        t.true(['refused', 'alarm', 'left'].includes(verdict), `${event} ${path.join('.')}: ${verdict}`);
      if (verdicts.has('left')) (left[event] ??= []).push(path.join('.'));
    }
  }
  for (const event of EVENTS) {
    // Other events tell of the cloud itself: nothing in them is the edge's to know but their environment.
    const listed = CLOUDS_WORD[event] ?? [...fieldsOf(honest(event)['data'] as Json)].map((path) => path.join('.'));
    const own = DEPOSIT.test(event) || PAYMENT.test(event) ? [] : ['id', ...(RENAMED.has(event) ? ['event'] : [])];
    const named = [...OF_ALL, ...own, ...listed.map((name) => `data.${name}`)].sort();
    t.deepEqual(left[event]?.toSorted(), named, event);
  }
});

test('treasury K8: what a later registry named otherwise leaves under either name, and never under the name of another', async (t) => {
  const named = 'USDCX';
  const later = registryIn();
  const version = versionOf(later.current.version + 1, ({ tokens }) => {
    tokens.find(({ symbol }) => symbol === 'USDC')!.symbol = named;
  });
  t.is(later.take(frameOfVersion(version)), null);
  const id = `txn_${'b'.repeat(26)}`,
    txid = `0x${'6'.repeat(64)}`;
  const ofToken = { ...unsigned, payload: '0x02bb', amount: 1500000n };
  const token = { chain: 'eth', contract: USDC, symbol: 'USDC', decimals: 6 } as const;
  const asked = { instruction: { ...instruction, id, amount: 1500000n, token }, unsigned: ofToken };
  t.true(instructions.record(asked));
  instructions.journal(asked);
  instructions.noteSigned(id, ofToken.payload, { chain: 'eth', payload: '0x02fe', txid });
  const events = EVENTS.filter((event) => DEPOSIT.test(event) || PAYMENT.test(event) || WITHDRAWAL.test(event));
  for (const event of events) {
    const under = async (name: string) => {
      const body = honest(event);
      const data = { ...(body['data'] as Json), [PAYMENT.test(event) ? 'asset' : 'tokenSymbol']: name };
      const money = { amount: '1500000', amountFormatted: '1.5', decimals: 6, tokenContract: USDC };
      if (WITHDRAWAL.test(event)) Object.assign(data, money, { transactionId: id, txid });
      return judged({ ...body, data }, undefined, later);
    };
    t.is(await under(named), 'left', `${event}: as it is called now`);
    t.is(await under('USDC'), 'alarm', `${event}: as it was called when the event was made`);
    t.is(await under('USDT'), DEPOSIT.test(event) ? 'alarm' : 'refused', `${event}: as another token`);
    t.is(await under('ETH'), DEPOSIT.test(event) ? 'alarm' : 'refused', `${event}: as the coin of the chain`);
  }
});

test('found F12, V39: the same bytes may be signed for a failed withdrawal and for its repeat; the events of both leave', async (t) => {
  const again = `txn_${'0'.repeat(26)}`;
  const asked = { instruction: { ...instruction, id: again }, unsigned };
  t.true(instructions.record(asked));
  instructions.journal(asked);
  instructions.noteSigned(again, unsigned.payload, { chain: 'eth', payload: '0x02ff', txid: TXID });
  for (const event of EVENTS.filter((name) => WITHDRAWAL.test(name)))
    for (const id of [TRANSACTION, again]) {
      const body = honest(event);
      t.is(await judged({ ...body, data: { ...(body['data'] as Json), transactionId: id } }), 'left', `${event} ${id}`);
    }
  const other = `txn_${'c'.repeat(26)}`;
  const body = honest('withdrawal_confirmed');
  t.is(await judged({ ...body, data: { ...(body['data'] as Json), transactionId: other } }), 'refused');
});
