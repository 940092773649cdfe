/**
 * found F5, F12, G28: nothing that the cloud says reaches a caller unread. Every field of every answer that an edge
 * passes on is falsified: what the edge knows is refused with an alarm, what is the cloud's word alone has at least its
 * schema's form, and what is in no schema is left out. The routes are those of the table: a new one without a rule and
 * a sample fails here.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { registryIn } from '../../support/edge/registry.ts';
import type { RecordedInstruction } from '../../../edge/signing/instructions.ts';
import { answerBytesMax, isShortWork } from '../../../edge/answers/answer-size.ts';
import { checkedAnswer, STEPS_PER_TURN } from '../../../edge/answers/checked.ts';
import { openIssuedAddresses, type IssuedAddresses } from '../../../edge/answers/issued-addresses.ts';
import type { Known } from '../../../edge/answers/known.ts';
import {
  ANSWER_RULES,
  ANSWERED_HERE,
  PAGE_WORD,
  STREAMED,
  type ForwardedOperation,
} from '../../../edge/answers/rules.ts';
import type { EdgeAnswer, EdgeCall } from '../../../edge/http/exchange.ts';
import { createForwarding } from '../../../edge/http/forward.ts';
import { createTransactionPaths } from '../../../edge/http/transactions.ts';
import { createPhraseKeystore } from '../../../edge/keystore/phrase-keystore.ts';
import { seedOf } from '../../../edge/keystore/keys.ts';
import { createEdgeLog } from '../../../edge/process/log.ts';
import { OwnAddresses } from '../../../edge/signing/own-addresses.ts';
import { feeBoundsOf } from '../../../edge/signing/signers/fee-bounds.ts';
import { evmSigner } from '../../../edge/signing/signers/evm.ts';
import { catalogueOf } from '../../../chains/catalogue.ts';
import { networkOf } from '../../../chains/registry.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { formatAmount } from '../../../protocol/money.ts';
import { namesAt } from '../../../protocol/input-problems.ts';
import type { Route } from '../../../protocol/route.ts';
import { ROUTE_LIST, routeOf } from '../../../protocol/routes.ts';
import type { Chain, Environment } from '../../../protocol/slugs.ts';
import type { Catalogue } from '../../../chains/chain.ts';
import { SAMPLES, WITHDRAWAL, WITHDRAWAL_TXID, type Sample } from '../../support/edge/answers.ts';
import { FIRST_PATH, RECEIVER, THIEF } from '../../support/edge/built.ts';
import { newDirectory } from '../../support/edge/disk.ts';
import { FIRST, PHRASE, SECOND } from '../../support/edge/edges.ts';

const keystore = createPhraseKeystore(seedOf(PHRASE, ''));
const own = new OwnAddresses(keystore);
const OPERATIONS = Object.keys(SAMPLES) as ForwardedOperation[];
const META = { requestId: newId('req', 1), timestamp: '2026-01-01T00:00:00.000Z' };

/** One ether to the receiver, signed once. */
const RECORDED = {
  instruction: {
    id: WITHDRAWAL.id,
    purpose: 'withdrawal',
    chain: 'eth',
    from: FIRST,
    fromPath: FIRST_PATH,
    to: RECEIVER,
    toPath: null,
    amount: 10n ** 18n,
    token: null,
    tag: null,
  },
  unsigned: {
    ...SAMPLES.repriceTransaction.data.unsigned,
    amount: 10n ** 18n,
    feeMax: BigInt(SAMPLES.repriceTransaction.data.unsigned.feeMax),
  },
} as const satisfies RecordedInstruction;

interface Stage {
  readonly known: Known;
  readonly issued: IssuedAddresses;
  tell(data: unknown, status?: number): void;
  /** `text`: of the body, where it is not the sample's own. */
  ask(operation: ForwardedOperation, sample?: Sample, text?: string): Promise<EdgeAnswer>;
  readonly alarms: () => number;
}

function openStage({
  environment = 'live' as Environment,
  isBroadcast = true,
  recorded = RECORDED as RecordedInstruction,
  amounts = null as readonly bigint[] | null,
  amountOfSigned = {} as Readonly<Record<string, bigint>>,
  catalogueInUse = (chain: Chain): Catalogue => catalogueOf(chain),
} = {}): Stage {
  const issued = openIssuedAddresses({ directory: newDirectory(), owner: 'live test', gap: 100 });
  const instructions = {
    get: (id: string) => (isBroadcast && id === WITHDRAWAL.id ? recorded : null),
    boundTo: () => null,
    record: () => true,
    mayBeSignedElsewhere: () => false,
    amountsOf: () => amounts,
    amountOfSigned: (_: string, txid: string) => amountOfSigned[txid] ?? null,
    signaturesOf: (id: string) =>
      id === WITHDRAWAL.id
        ? [
            {
              transactionId: id,
              payload: '',
              signed: { chain: 'eth' as const, payload: '', txid: WITHDRAWAL_TXID },
              signedAtMs: 0,
              outcome: 'taken' as const,
              outcomeCode: null,
            },
          ]
        : [],
  };
  const known: Known = { environment, own, keystore, instructions, issued, catalogueOf: catalogueInUse };
  const log = createEdgeLog('silent', { write: () => undefined });
  let told: { status: number; body: Buffer } = { status: 200, body: Buffer.alloc(0) };
  const forwarding = createForwarding({
    known,
    unsynced: () => null,
    onRefused: () => undefined,
    log,
    upstream: { forward: async () => ({ ...told, headers: {} }) },
  });
  const policy = {
    ...feeBoundsOf('eth'),
    sweepDestinations: [],
    gasTank: null,
    catalogue: catalogueOf('eth'),
    addressAt: (path: string) => own.addressAt('eth', path),
    journal: { forInstruction: [], withReplayKey: () => [] },
    replayWindow: null,
  };
  const paths = createTransactionPaths({
    registry: registryIn(),
    forwarding,
    log,
    shared: async () => undefined,
    unsynced: () => null,
    ownTransaction: () => 'the own record',
    instructions: instructions as never,
    signing: {
      check: async ({ unsigned, instruction }) => evmSigner.check(networkOf('eth'), unsigned, instruction, policy),
      broadcast: async () => JSON.parse(told.body.toString('utf8')).data as never,
      isGivenUp: async () => false,
      giveUp: async () => false,
    },
  });
  const own_paths = {
    buildTransaction: paths.build,
    createTrustline: paths.trustline,
    repriceTransaction: paths.reprice,
    broadcastTransaction: paths.broadcast,
  };
  return {
    known,
    issued,
    alarms: () => log.alarms,
    tell(data, status) {
      told = { status: status ?? 200, body: Buffer.from(JSON.stringify({ success: true, data, meta: META })) };
    },
    async ask(operation, sample = SAMPLES[operation] as Sample, text = JSON.stringify(sample.body) ?? '') {
      const call: EdgeCall = {
        keyId: null,
        requestId: META.requestId,
        route: { ...routeOf(operation), operationId: operation },
        params: sample.params ?? {},
        host: 'edge.example',
        pathAndQuery: `/x${sample.query ?? ''}`,
        headers: {},
        body: Buffer.from(text),
        scrape: { peer: '127.0.0.1', isForwarded: false, authorization: undefined },
        isGone: () => false,
      };
      const path = Object.entries(own_paths).find(([name]) => name === operation)?.[1] ?? forwarding.forward;
      return path(call);
    },
  };
}

const dataOf = (answer: EdgeAnswer): unknown =>
  answer.kind === 'passed'
    ? (JSON.parse(answer.answer.body.toString('utf8')) as { data: unknown }).data
    : answer.kind === 'answered'
      ? answer.data
      : undefined;

test('found F5 every route that an edge passes on has a rule and a sample, and no other', (t) => {
  const passed = ROUTE_LIST.filter(({ where, credential }) => where === 'both' && credential === 'application')
    .map(({ operationId }) => operationId)
    .filter((operation) => !([...ANSWERED_HERE, ...STREAMED] as readonly string[]).includes(operation))
    .sort();
  t.deepEqual(Object.keys(ANSWER_RULES).sort(), passed);
  t.deepEqual([...OPERATIONS].sort(), passed);
});

/** Fields that are named as one of the request is, and are not it, each with the reason. */
const NOT_THE_SAME: Readonly<Record<string, string>> = {
  'changePaymentLink *': 'what was sent is compared, the rest is as it was',
  'replaceSweepPolicy version': 'the version that was read; the answer has the next one',
  'replaceBridgePolicy version': 'the version that was read; the answer has the next one',
  'requestToken symbol': 'a contract that was asked for before has the claims of then (treasury Q2)',
  'requestToken decimals': 'a contract that was asked for before has the claims of then (treasury Q2)',
  'discover gapLimit': 'where it is left out, and by the evidence, the cloud chooses it',
  'discover maxScan': 'what goes without a review; the rest is `requestedMaxScan`',
  'completeUpload sha256': 'compared where it was sent',
  'simulateConfirmation confirmations': 'what there are then',
  'simulateStuck stuck': 'the simulated world is that of the cloud',
  'simulateReplaced txid': 'that of the replacement',
  'simulateReorg depth': 'at most the height of the ledger',
  'simulateActivity addresses': 'how many there were, not which',
  'simulateConflict address': 'none after it was cleared',
};

test('found F5: what a path or a body names, and an answer repeats, is compared: none of it is the word of the cloud alone', (t) => {
  const isExcused = (name: string) => name in NOT_THE_SAME || `${name.split(' ')[0]} *` in NOT_THE_SAME;
  const believed = OPERATIONS.flatMap((operation) => {
    const { params, body, reply } = routeOf(operation) as Route;
    const fields = namesAt(reply, []),
      rows = fields.includes('content') ? namesAt(reply, ['content', 0]) : fields;
    const asked = [params, body].flatMap((schema) => (schema === undefined ? [] : namesAt(schema, [])));
    const isOne = params !== undefined && !fields.includes('content') && routeOf(operation).status !== 201;
    const { word } = ANSWER_RULES[operation] as { readonly word: readonly string[] };
    const id = isOne && rows.includes('id') && !rows.includes('scanId') ? ['id'] : [];
    return [...asked, ...id]
      .filter((name) => rows.includes(name) && word.includes(name))
      .map((name) => `${operation} ${name}`)
      .filter((name) => !isExcused(name));
  });
  t.deepEqual(believed, []);
});

test('found F5: a field that an honest answer may leave out is no way around the rules: it is compared, or listed as the word of the cloud', async (t) => {
  const shown: string[] = [];
  for (const operation of OPERATIONS) {
    const { reply, status } = routeOf(operation) as Route,
      sample = SAMPLES[operation] as Sample;
    const content = (sample.data as { content?: readonly object[] }).content,
      row = content === undefined ? sample.data : content[0]!;
    const left = namesAt(reply, content === undefined ? [] : ['content', 0]).filter((name) => !(name in row));
    const stage = openStage();
    for (const name of left.filter((field) => !['withheld', 'totalCapped'].includes(field))) {
      for (const value of [THIEF, '1', 1, true, 'observe', 'active']) {
        const data = { ...row, [name]: value };
        stage.tell(content === undefined ? data : { ...sample.data, content: [data] }, status);
        const answer = await stage.ask(operation);
        const isShown = answer.kind === 'passed' && JSON.stringify(dataOf(answer)).includes(`"${name}":`);
        if (isShown && !isWord(operation, content === undefined ? [name] : ['content', '0', name]))
          shown.push(`${operation} ${name}: ${value}`);
      }
    }
  }
  t.deepEqual(shown, []);
});

/**
 * One falsification of a JSON value: where, what became of it, and whether its form is still that of the schema
 * perhaps.
 */
interface Mutation {
  readonly path: readonly string[];
  readonly what: string;
  readonly data: unknown;
  readonly isOtherType: boolean;
}

/** What became of an answer: `withheld` where a page was handed on without some of its rows. */
function kindOf(answer: EdgeAnswer): string {
  const isPart = answer.kind === 'passed' && Object.hasOwn(dataOf(answer) as object, 'withheld');
  return isPart ? 'withheld' : answer.kind;
}

function* mutations(
  value: unknown,
  path: readonly string[] = [],
  rebuild: (value: unknown) => unknown = (same) => same,
): Generator<Mutation> {
  const told = (what: string, changed: unknown, isOtherType = false): Mutation => ({
    path,
    what,
    data: rebuild(changed),
    isOtherType,
  });
  yield told('an object', { evil: THIEF }, typeof value !== 'object');
  yield told('a list', [THIEF], !Array.isArray(value));
  if (typeof value === 'string') {
    for (const text of [
      `${value}0`,
      value.slice(0, -1),
      '',
      value.toUpperCase(),
      THIEF,
      'btc',
      'sandbox',
      '1',
      '999999999999999999999',
      'reversed',
      'https://thief.example/x',
      '-5',
    ]) {
      if (text !== value) yield told(`text ${text.slice(0, 20)}`, text);
    }
    yield told('a number', 7, true);
    yield told('null', null);
  } else if (typeof value === 'number') {
    for (const number of [value + 1, value - 1, 0, -1, 77, 1e21])
      if (number !== value) yield told(`number ${number}`, number);
    yield told('text', String(value), true);
    yield told('a fraction', value + 0.5);
  } else if (typeof value === 'boolean') {
    yield told('the opposite', !value);
    yield told('text', String(value), true);
  } else if (value === null) {
    for (const other of [THIEF, 'eth', 5, true]) yield told('something', other);
  } else if (Array.isArray(value)) {
    if (value.length > 0) yield told('none', []);
    yield told('twice', [...value, ...value]);
    for (const [index, entry] of value.entries())
      yield* mutations(entry, [...path, '*'], (changed) => rebuild(value.with(index, changed)));
  } else if (typeof value === 'object') {
    const entries = Object.entries(value);
    for (const [name, entry] of entries) {
      const { [name]: _gone, ...rest } = value as Record<string, unknown>;
      yield { path: [...path, name], what: 'missing', data: rebuild(rest), isOtherType: true };
      yield {
        path: [...path, name],
        what: 'in other letters beside',
        data: rebuild({ ...value, [name.toUpperCase()]: THIEF }),
        isOtherType: false,
      };
      yield* mutations(entry, [...path, name], (changed) => rebuild({ ...value, [name]: changed }));
    }
    yield told('a field more', { ...value, evil: THIEF, __proto: 1 });
  }
}

/**
 * Whether a field is the cloud's word: its name is listed, `*` for entries; a page's rows are named without the page.
 */
function isWord(operation: ForwardedOperation, path: readonly string[]): boolean {
  const isPage = path[0] === 'content';
  if (path.length === 1 && isPage) return true; // which rows there are
  if (path.length === 1 && (PAGE_WORD as readonly string[]).includes(path[0]!)) return true;
  const names = isPage ? path.slice(2) : path,
    rule = ANSWER_RULES[operation].word;
  if (isPage && path.length === 2) return true;
  return rule.some((field) => {
    const wanted = field.split('.');
    return wanted.length === names.length && wanted.every((step, index) => step === '*' || step === names[index]);
  });
}

const count = { mutations: 0, refused: 0 };

for (const operation of OPERATIONS) {
  test(`found F5 F12 G28 ${operation}: no falsified field is handed on without an alarm`, async (t) => {
    const sample = SAMPLES[operation] as Sample,
      { status, again } = routeOf(operation);
    if (operation === 'createTrustline') return trustlines(t);
    const honest = openStage();
    honest.tell(sample.data, status);
    const clean = dataOf(await honest.ask(operation));
    t.deepEqual(clean, sample.data, 'the truth is handed on');
    t.is(honest.alarms(), 0);
    const stage = openStage();
    for (const { path, what, data, isOtherType } of mutations(sample.data)) {
      count.mutations += 1;
      const before = stage.alarms();
      stage.tell(data, status);
      const answer = await stage.ask(operation);
      const isRefused = answer.kind === 'refused' || dataOf(answer) === 'the own record';
      if (isRefused) {
        count.refused += 1;
        t.true(stage.alarms() > before, `${path.join('.')}: ${what}: an alarm`);
        continue;
      }
      const text = JSON.stringify(dataOf(answer));
      const isRecord = isWord(operation, [...path, 'any name']);
      t.true(isRecord || !text.includes('evil'), `${path.join('.')}: ${what}`);
      if (JSON.stringify(clean) === text) continue; // What was added is left out.
      if (what === 'a field more' && isRecord) continue;
      if (path.at(-1) === 'derivationPath' && what === 'null') continue; // it says itself that nobody has its key
      // Another registry may name it so: it is handed on, with an alarm. By another asset's symbol it is not.
      if (['tokenSymbol', 'asset'].includes(String(path.at(-1))) && stage.alarms() > before) continue;
      if (isWord(operation, [...path.slice(0, -1), 'any name'])) continue; // a record has any names, texts and numbers
      t.true(
        isWord(operation, path) && !(isOtherType && path.at(-1) !== '*'),
        `${operation} ${path.join('.')}: ${what}: handed on ${text.slice(0, 300)}`,
      );
    }
    stage.tell(sample.data, status === 200 ? 201 : again === 200 ? 202 : 200);
    if (operation !== 'broadcastTransaction')
      t.is((await stage.ask(operation)).kind, 'refused', 'the status of another route');
  });
}

test('treasury K8: after a token was renamed what is called by the name of before, or of after, is handed on, and what is called as another token is not', async (t) => {
  const contract = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    usdt = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
  const renamed = (chain: Chain): Catalogue =>
    new Map(
      [...catalogueOf(chain)].map(([key, token]) => [
        key,
        chain === 'eth' && key === contract ? { ...token, symbol: 'USDX' } : token,
      ]),
    );
  t.is(renamed('eth').get(contract)?.symbol, 'USDX');
  t.is(renamed('eth').get(usdt)?.symbol, 'USDT');
  for (const operation of [
    'getTransaction',
    'listTransactions',
    'getTokenBalance',
    'getTreasuryWalletBalances',
  ] as const) {
    const stage = openStage({ catalogueInUse: renamed }),
      sample = SAMPLES[operation] as Sample;
    const told = async (symbol: string) => {
      stage.tell(JSON.parse(JSON.stringify(sample.data).replaceAll('"USDC"', JSON.stringify(symbol))), 200);
      return (await stage.ask(operation)).kind;
    };
    t.is(await told('USDX'), 'passed', 'as the registry in use has it, and not the shipped one');
    t.is(stage.alarms(), 0);
    t.is(await told('USDC'), 'passed', 'a record of before');
    t.is(stage.alarms(), 1);
    t.is(await told('USDT'), 'refused', 'another token');
    t.is(await told('ETH'), 'refused', 'the coin');
    t.is(stage.alarms(), 3);
  }
});

test('found F14: an answer of two hundred addresses takes no turn of the loop for itself: derivations are counted', async (t) => {
  const fresh = new OwnAddresses(keystore),
    address = SAMPLES.getAddress.data,
    known: Known = { ...openStage().known, own: fresh };
  const content = Array.from({ length: 200 }, (_, index) => {
    const derivationPath = `${networkOf('eth').accountPath}/0/${index}`;
    return { ...address, address: own.addressAt('eth', derivationPath)!, derivationPath, userRef: 'u', tag: null };
  });
  const ask = { params: {}, query: { size: '200' }, body: {} },
    page = { content, page: 0, size: 200, totalElements: 200, totalPages: 1, next: null };
  let largest = 0,
    before = 0,
    turns = 0,
    isDone = false;
  const look = (): void => {
    largest = Math.max(largest, fresh.steps - before);
    before = fresh.steps;
    turns += 1;
    if (!isDone) setImmediate(look);
  };
  setImmediate(look);
  const checked = await checkedAnswer('listAddresses', page, ask, known);
  isDone = true;
  look();
  t.is(checked.refusal, null);
  t.deepEqual((checked.data as { content: unknown[] }).content, content, 'nothing is lost between the slices');
  t.true(fresh.steps >= 200 && turns > fresh.steps / (2 * STEPS_PER_TURN), `${fresh.steps} steps in ${turns} turns`);
  t.true(largest <= STEPS_PER_TURN + 8, `${largest} steps in one turn`);
  const wrong = { ...page, content: content.with(150, { ...content[150]!, createdAt: 'never' }) };
  t.is(
    (await checkedAnswer('listAddresses', wrong, ask, known)).refusal?.details['field'],
    'content.150.createdAt',
    'the row is named as in the whole',
  );
});

test('found F14: every list has a bound of its own, an honest page of any size fits, and what asks for little gets little', (t) => {
  for (const operation of OPERATIONS) {
    const data = SAMPLES[operation].data as { content?: unknown[] },
      record = answerBytesMax(operation, {});
    const rows =
      data.content === undefined
        ? null
        : (size: number) =>
            Buffer.byteLength(
              JSON.stringify({
                success: true,
                data: { ...data, content: Array.from({ length: size }, () => data.content![0]) },
                meta: META,
              }),
            );
    t.true(record <= 2 ** 21 && (rows === null || record !== answerBytesMax('getAddress', {})), operation);
    if (rows === null) t.true(Buffer.byteLength(JSON.stringify(data)) * 4 < record, operation);
    else
      for (const size of [1, 20, 200])
        t.true(rows(size) * 2 < answerBytesMax(operation, { size: String(size) }), `${operation} ${size}`);
  }
  const sizes = ['1', '20', '200', '100000', '-1', 'x', '1e9', ''].map((size) =>
    answerBytesMax('listAddresses', { size }),
  );
  t.true(
    sizes[0]! < sizes[1]! && sizes[1]! < sizes[2]! && sizes.slice(2).every((bytes) => bytes <= sizes[2]!),
    String(sizes),
  );
});

test('found F14: what is long work for a parser is known before it is parsed, by its values and its depth; no honest answer is', (t) => {
  const page = (operation: (typeof OPERATIONS)[number]) => {
    const data = SAMPLES[operation].data as { content?: unknown[] };
    return data.content === undefined
      ? data
      : { ...data, content: Array.from({ length: 200 }, () => data.content![0]) };
  };
  for (const operation of OPERATIONS)
    t.true(isShortWork(Buffer.from(JSON.stringify({ success: true, data: page(operation), meta: META }))), operation);
  const bytes = 1_000_000,
    text = (one: string) => Buffer.from(one);
  t.true(
    isShortWork(text(JSON.stringify({ payload: '[{,"\\'.repeat(bytes / 6) }))),
    'what stands in a text is no value',
  );
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const)
    t.false(isShortWork(text(open.repeat(40) + '1' + close.repeat(40))), open);
  for (const many of [
    `[${'{},'.repeat(bytes / 3)}{}]`,
    `[${'1,'.repeat(bytes / 2)}1]`,
    `{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":1`).join(',')}}`,
  ])
    t.false(isShortWork(text(many)), many.slice(0, 9));
});

/** Its truth is a build of its own; on eth there is none, so that every answer is refused. */
async function trustlines(t: import('ava').ExecutionContext): Promise<void> {
  const stage = openStage();
  for (const { data } of mutations(SAMPLES.createTrustline.data)) {
    stage.tell(data, 201);
    t.is((await stage.ask('createTrustline')).kind, 'refused');
  }
}

test.after('thousands of falsifications were tried', (t) => {
  t.true(count.mutations > 4_000 && count.refused > 2_500, JSON.stringify(count));
});

test('attack: what a caller wrote is read as the cloud reads it: a byte order mark is no lie of the cloud', async (t) => {
  const stage = openStage();
  const { body, data } = SAMPLES.createPaymentLink as Sample;
  stage.tell({ ...data, metadata: {} }, 201);
  t.is((await stage.ask('createPaymentLink', undefined, `\ufeff${JSON.stringify(body)}`)).kind, 'passed');
  t.is(stage.alarms(), 0);
});

test('found F12 of an own withdrawal every fact is compared: txid, receiver, amount, token, tag, sender', async (t) => {
  const stage = openStage();
  const sample = { params: { id: WITHDRAWAL.id }, data: WITHDRAWAL };
  stage.tell(WITHDRAWAL, 200);
  t.is((await stage.ask('getTransaction', sample)).kind, 'passed');
  const otherTxid = `0x${'cd'.repeat(32)}`;
  for (const change of [
    { txid: otherTxid, explorerUrl: `https://etherscan.io/tx/${otherTxid}` },
    { counterparty: THIEF },
    { address: SECOND },
    { chainTag: '7' },
    { chain: 'bsc', tokenSymbol: 'BNB' },
    { amount: '2000000000000000000', amountFormatted: '2' },
    {
      tokenContract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
      tokenSymbol: 'USDC',
      decimals: 6,
      amountFormatted: '1000000000000',
    },
    { id: newId('txn', 2) },
    { direction: 'in' },
    { direction: 'in', kind: null },
    { kind: 'sweep' },
    { kind: 'sweep', role: 'sweep', operationId: newId('swo', 1) },
    { role: 'fund', operationId: newId('swo', 1) },
    { versions: [{ txid: otherTxid, at: 'node' }] },
    { status: 'detected' },
  ]) {
    stage.tell({ ...WITHDRAWAL, ...change }, 200);
    t.is((await stage.ask('getTransaction', sample)).kind, 'refused', JSON.stringify(change));
  }
});

test('found F70 of a send-all the amount of each version is right, and any other is refused with an alarm', async (t) => {
  const recorded = { ...RECORDED, instruction: { ...RECORDED.instruction, amount: 'all' } } as const,
    amounts = [3n * 10n ** 18n, 2n * 10n ** 18n, 10n ** 18n];
  const stage = openStage({ recorded, amounts }),
    sample = { params: { id: WITHDRAWAL.id }, data: WITHDRAWAL };
  const kindOf = async (amount: bigint) => {
    stage.tell({ ...WITHDRAWAL, amount: String(amount), amountFormatted: formatAmount(amount, 18) }, 200);
    return (await stage.ask('getTransaction', sample)).kind;
  };
  for (const amount of amounts) t.is(await kindOf(amount), 'passed');
  t.is(stage.alarms(), 0);
  const lies = amounts.flatMap((amount) => [amount - 1n, amount + 1n, amount * 10n]);
  for (const amount of [...lies, 1n]) t.is(await kindOf(amount), 'refused', String(amount));
  t.true(stage.alarms() > 0);
});

test('found F70 the amount of a send-all is that of the txid of the answer: the amount of another version is refused', async (t) => {
  const recorded = { ...RECORDED, instruction: { ...RECORDED.instruction, amount: 'all' } } as const,
    built = RECORDED.unsigned.amount,
    of = (own: bigint | null, amounts: readonly bigint[] | null) => ({
      recorded,
      amounts,
      amountOfSigned: own === null ? {} : { [WITHDRAWAL_TXID]: own },
    });
  const { feeMax } = RECORDED.unsigned;
  for (const [stage, inBlock, amount, kind] of [
    [of(built + 5n, [built + 5n, built]), true, built + 5n, 'passed'],
    [of(built + 5n, [built + 5n, built]), true, built, 'refused'],
    [of(built + 5n, [built + 5n, built]), false, built, 'passed'], // the build that is to replace it
    [of(built + 5n, [built + 5n, built + 3n, built]), false, built + 3n, 'refused'],
    [of(built, null), true, built, 'passed'],
    [of(built, null), true, built - 1n, 'refused'],
    // Signed here by an edge of before, another payload than the newest: it pays more, by a fee at most.
    [of(null, null), true, built, 'passed'],
    [of(null, null), true, built + feeMax, 'passed'],
    [of(null, null), true, built + feeMax + 1n, 'refused'],
    [of(null, null), true, built - 1n, 'refused'],
  ] as const) {
    const told = openStage(stage),
      block = inBlock ? {} : { height: null, blockHash: null, confirmations: 0, status: 'broadcast', fee: null };
    told.tell({ ...WITHDRAWAL, ...block, amount: String(amount), amountFormatted: formatAmount(amount, 18) }, 200);
    const answer = await told.ask('getTransaction', { params: { id: WITHDRAWAL.id }, data: WITHDRAWAL });
    t.deepEqual(
      [answer.kind, told.alarms()],
      [kind, kind === 'passed' ? 0 : 1],
      `${amount - built} in a block: ${inBlock}`,
    );
  }
});

test('found F12 a broadcast whose answer is false is answered with the own record: signed bytes exist, and no error says otherwise', async (t) => {
  const stage = openStage();
  stage.tell({ ...WITHDRAWAL, txid: `0x${'cd'.repeat(32)}` }, 200);
  t.deepEqual(await stage.ask('broadcastTransaction'), { kind: 'answered', status: 200, data: 'the own record' });
  t.is(stage.alarms(), 1);
});

test('found F5 a path belongs to one customer: a second issue, a changed echo, tanks, treasuries and indexes out of reach are refused', async (t) => {
  const stage = openStage();
  const create = async (
    chain: string,
    position: number | string,
    userRef: string,
    more: { tag?: string; id?: string; told?: object } = {},
  ) => {
    const path =
      typeof position === 'string'
        ? position
        : chain === 'sol'
          ? `m/44'/501'/${position}'/0'`
          : `m/44'/60'/0'/0/${position}`;
    const address = own.addressAt(chain as 'eth', path) ?? THIEF;
    const body = { chain, userRef, ...(more.tag === undefined ? {} : { tag: more.tag }) };
    const data = {
      ...SAMPLES.createAddress.data,
      id: more.id ?? newId('adr', 5),
      chain,
      address,
      derivationPath: path,
      userRef,
      tag: more.tag ?? null,
      label: null,
      ...more.told,
    };
    stage.tell(data, 201);
    const answer = await stage.ask('createAddress', { body, data } as Sample);
    return answer.kind === 'refused' ? String(answer.refusal.details['field']) : 'issued';
  };
  const id = newId('adr', 9);
  t.is(await create('eth', 3, 'ada', { id }), 'issued');
  t.is(await create('eth', 3, 'ada', { id }), 'issued', 'the same answer again, as for an Idempotency-Key');
  t.is(await create('eth', 3, 'ada'), 'derivationPath: issued_before', 'another address was asked for');
  t.is(await create('eth', 3, 'bob'), 'derivationPath: issued_to_another');
  t.is(await create('bsc', 3, 'ada'), 'issued', 'found F40: the same address on another network of the same customer');
  t.is(await create('polygon', 3, 'bob'), 'derivationPath: issued_to_another', 'on another network too');
  t.is(
    await create('base', 3, 'ada', { tag: 'savings' }),
    'derivationPath: issued_to_another',
    'a tag is a pair of its own',
  );
  t.is(await create('eth', "m/44'/60'/0'/1/0", 'ada'), 'derivationPath', 'the gas tank');
  t.is(await create('eth', "m/44'/60'/0'/1/1", 'ada'), 'derivationPath', 'the treasury');
  t.is(await create('eth', "m/44'/60'/0'/1/7", 'ada'), 'derivationPath', 'change');
  t.is(await create('eth', 2_147_483_647, 'ada'), 'derivationPath: index_beyond_gap');
  t.is(await create('eth', 104, 'eve'), 'derivationPath: index_beyond_gap', 'one above the highest and the gap');
  t.is(await create('eth', 103, 'eve'), 'issued');
  t.is(await create('eth', 203, 'eve'), 'issued');
  t.is(await create('sol', 3, 'bob'), 'issued', 'another family counts by itself');
  t.is(await create('sol', "m/44'/501'/0'/1'/0'", 'ada'), 'derivationPath', 'the gas tank of a pooled chain');
  t.is(await create('eth', 4, 'ada', { told: { userRef: 'bob' } }), 'userRef');
  t.is(await create('eth', 4, 'ada', { told: { tag: 'x' } }), 'tag');
  // Later answers are held to the record as well.
  const list = async (change: object) => {
    stage.tell(
      {
        ...SAMPLES.listAddresses.data,
        content: [
          {
            ...SAMPLES.createAddress.data,
            id,
            address: own.addressAt('eth', "m/44'/60'/0'/0/3"),
            derivationPath: "m/44'/60'/0'/0/3",
            userRef: 'ada',
            tag: null,
            ...change,
          },
        ],
      },
      200,
    );
    return kindOf(await stage.ask('listAddresses', { data: SAMPLES.listAddresses.data }));
  };
  t.is(await list({}), 'passed');
  t.is(await list({ userRef: 'bob' }), 'withheld');
  t.is(await list({ tag: 'vip' }), 'withheld');
  t.is(
    await list({ address: own.addressAt('eth', "m/44'/60'/0'/1/0"), derivationPath: "m/44'/60'/0'/1/0" }),
    'refused',
    'a tank in a list',
  );
  t.is(
    await list({ id: newId('adr', 9), address: THIEF, derivationPath: "[0123456789abcdef/44'/60'/0'/0/0]" }),
    'passed',
    '§5.7 an origin without a key here says so itself',
  );
  t.is(await create('eth', "[0123456789abcdef/44'/60'/0'/0/0]", 'ada'), 'derivationPath', 'and is never a new address');
});

test('found F5: a record that an edge or a cloud lost is no lie, and what is against the record is not handed on', async (t) => {
  const pathAt = (position: number) => `m/44'/60'/0'/0/${position}`;
  const rowOf = (position: number, userRef: string, id: string, more: object = {}) => ({
    ...SAMPLES.createAddress.data,
    id,
    address: own.addressAt('eth', pathAt(position)),
    derivationPath: pathAt(position),
    userRef,
    tag: null,
    label: null,
    ...more,
  });
  const create = (stage: Stage, row: ReturnType<typeof rowOf>) => {
    stage.tell(row, 201);
    const body = { chain: 'eth', userRef: row.userRef };
    return stage.ask('createAddress', { body, data: row } as Sample);
  };
  const [ada, bob, again] = [newId('adr', 1), newId('adr', 2), newId('adr', 3)];
  // The edge lost its record: what lies within the gap is recorded again; what lies beyond needs the operator.
  const restored = openStage();
  const beyond = await create(restored, rowOf(100, 'bob', bob));
  t.like(beyond, {
    kind: 'refused',
    refusal: { code: 'CONFLICT', details: { reason: 'index_beyond_gap', setting: 'EDGE_ADDRESS_GAP' } },
  });
  t.is(restored.alarms(), 0, 'nobody lied');
  t.is((await create(restored, rowOf(99, 'ada', ada))).kind, 'passed', 'within the gap');
  t.is((await create(restored, rowOf(100, 'bob', bob))).kind, 'passed', 'and so is what follows');
  t.is(restored.alarms(), 0);
  // The cloud lost its database: it gives a path to somebody else, or under another id.
  for (const row of [rowOf(99, 'bob', again), rowOf(99, 'ada', again)]) {
    const alarms = restored.alarms(),
      answer = await create(restored, row);
    t.like(answer, { kind: 'refused', refusal: { code: 'CONFLICT' } });
    t.not((answer as { refusal: Refusal }).refusal.details['reason'], 'false_answer');
    restored.tell({ ...SAMPLES.listAddresses.data, content: [row] }, 200);
    const listed = await restored.ask('listAddresses', { data: SAMPLES.listAddresses.data });
    t.is(kindOf(listed), 'withheld');
    t.is(restored.alarms(), alarms + 2, 'both are alarms');
  }
  // What the edge does not derive is a lie, whatever is in the record.
  const lie = await create(restored, rowOf(101, 'eve', newId('adr', 4), { address: THIEF }));
  t.like(lie, { kind: 'refused', refusal: { code: 'INTERNAL_ERROR', details: { reason: 'false_answer' } } });
});

test('attack: whose an address is is compared however it is spelt, and under whatever origin it is told (F5)', async (t) => {
  const stage = openStage(),
    id = newId('adr', 9),
    path = "m/44'/60'/0'/0/3",
    address = own.addressAt('eth', path)!;
  const row = {
    ...SAMPLES.createAddress.data,
    id,
    address,
    derivationPath: path,
    userRef: 'ada',
    tag: null,
    label: null,
  };
  stage.tell(row, 201);
  t.is(
    (await stage.ask('createAddress', { body: { chain: 'eth', userRef: 'ada' }, data: row } as Sample)).kind,
    'passed',
  );
  const isHandedOn = async (operation: 'listAddresses' | 'listTransactions', told: object) => {
    stage.tell({ ...SAMPLES[operation].data, content: [told] }, 200);
    return kindOf(await stage.ask(operation, { data: SAMPLES[operation].data } as Sample)) === 'passed';
  };
  const origin = "[0123456789abcdef/44'/60'/0'/0/3]";
  t.true(await isHandedOn('listAddresses', { ...row, derivationPath: origin }), 'a former identity of the same phrase');
  t.false(await isHandedOn('listAddresses', { ...row, derivationPath: origin, userRef: 'mallory' }));
  t.false(await isHandedOn('listAddresses', { ...row, derivationPath: origin, tag: 'x' }));
  const deposit = { ...SAMPLES.listTransactions.data.content[0]!, direction: 'in', address, userRef: 'ada', tag: null };
  t.true(await isHandedOn('listTransactions', deposit));
  const spellings = [
    address,
    address.toLowerCase(),
    address.toUpperCase().replace('0X', '0x'),
    ` ${address}`,
    `${address}\u200b`,
    address.slice(2),
  ];
  for (const spelling of spellings)
    t.false(await isHandedOn('listTransactions', { ...deposit, address: spelling, userRef: 'mallory' }), spelling);
  for (const spelling of spellings.slice(1))
    t.false(await isHandedOn('listTransactions', { ...deposit, address: spelling }), spelling);
});

test('found F5 the record of issues costs the same however much is in it: no statement reads more than a few rows', async (t) => {
  const directory = newDirectory(),
    book = openIssuedAddresses({ directory, owner: 'live test', gap: 3_000_000 });
  const database = new DatabaseSync(join(directory, 'issued.db'));
  database.exec(`insert into issued (owner, family, position, address_hash, user_ref, tag)
    with recursive n (i) as (select 0 union all select i + 1 from n where i < 299999) select 1, 'evm', i, i * 7919, 'user ' || i, null from n`);
  for (const [sql, ...values] of [
    ['select user_ref, tag from issued where owner = ? and family = ? and position = ?', 1, 'evm', 5],
    ['select max(position) as highest from issued where owner = ? and family = ?', 1, 'evm'],
    [
      'select i.user_ref, i.tag from issued i cross join owners o on o.id = i.owner where i.address_hash = ? and i.family = ? and substr(o.name, 1, length(?)) = ?',
      5,
      'evm',
      'live ',
      'live ',
    ],
    [
      'select address_id from issued_rows where owner = ? and family = ? and position = ? and chain = ?',
      1,
      'evm',
      5,
      'eth',
    ],
    [
      'select 1 from issued_rows r join issued i using (owner, family, position) where r.address_id = ? and r.owner = ? and (r.chain <> ? or i.address_hash <> ?)',
      'adr_x',
      1,
      'eth',
      5,
    ],
    [
      'select 1 from issued i join issued_rows r using (owner, family, position) where i.address_hash = ? and i.owner = ? and i.family = ? and r.chain = ?',
      5,
      1,
      'evm',
      'eth',
    ],
  ] as const) {
    const plan = database.prepare(`explain query plan ${sql}`).all(...values) as { detail: string }[];
    t.true(
      plan.every(({ detail }) => detail.startsWith('SEARCH')),
      JSON.stringify(plan),
    );
  }
  database.close();
  t.is(
    await book.record({
      chain: 'eth',
      position: 299_999,
      address: FIRST,
      addressId: newId('adr', 1),
      userRef: 'user 299999',
      tag: null,
    }),
    null,
  );
  t.is(
    await book.record({
      chain: 'eth',
      position: 299_998,
      address: FIRST,
      addressId: newId('adr', 1),
      userRef: 'somebody else',
      tag: null,
    }),
    'issued_to_another',
  );
  t.is(
    await book.record({
      chain: 'eth',
      position: 300_000,
      address: SECOND,
      addressId: newId('adr', 2),
      userRef: 'new',
      tag: null,
    }),
    null,
  );
  t.deepEqual(await book.holderOf('bsc', SECOND), { userRef: 'new', tag: null });
  await book.close();
  const again = openIssuedAddresses({ directory, owner: 'live test', gap: 10 });
  t.deepEqual(await again.holderOf('eth', SECOND), { userRef: 'new', tag: null }, 'it survives the process');
  await again.close();
});

test('found: an address id belongs to one address of one network: one that is told with another row, singly, archived or in a list, is refused', async (t) => {
  const stage = openStage(),
    path = (index: number) => `m/44'/60'/0'/0/${index}`;
  const [alice, bob, other] = [newId('adr', 1), newId('adr', 2), newId('adr', 3)];
  const rowOf = (id: string, index: number, userRef: string, more: object = {}) => ({
    ...SAMPLES.createAddress.data,
    id,
    chain: 'eth',
    address: own.addressAt('eth', path(index)),
    derivationPath: path(index),
    userRef,
    tag: null,
    label: null,
    ...more,
  });
  const create = async (id: string, index: number, userRef: string, chain = 'eth') => {
    stage.tell(rowOf(id, index, userRef, { chain }), 201);
    const answer = await stage.ask('createAddress', { body: { chain, userRef }, data: SAMPLES.createAddress.data });
    return answer.kind === 'refused' ? String(answer.refusal.details['field']) : 'issued';
  };
  t.is(await create(alice, 0, 'alice'), 'issued');
  t.is(await create(bob, 1, 'bob'), 'issued');
  t.is(await create(alice, 2, 'carol'), 'derivationPath: id_of_another');
  t.is(await create(alice, 0, 'alice', 'bsc'), 'derivationPath: id_of_another', 'each network has an id of its own');
  const get = async (operation: 'getAddress' | 'archiveAddress', row: object, id = alice) => {
    stage.tell(row);
    const answer = await stage.ask(operation, { params: { id }, data: SAMPLES.getAddress.data });
    return answer.kind === 'refused' ? String(answer.refusal.details['field']) : 'passed';
  };
  t.is(await get('getAddress', rowOf(alice, 0, 'alice')), 'passed');
  t.is(await get('getAddress', rowOf(alice, 1, 'bob')), 'id', 'the row of another');
  t.is(await get('getAddress', rowOf(alice, 7, 'alice')), 'id', 'an address that this replica did not issue');
  t.is(
    await get('getAddress', rowOf(other, 1, 'bob'), other),
    'id: issued_before',
    'a known address under an unknown id',
  );
  t.is(
    await get('getAddress', rowOf(other, 7, 'bob'), other),
    'passed',
    'neither is known here: another replica issued it',
  );
  t.is(
    await get(
      'getAddress',
      rowOf(alice, 0, 'alice', { address: THIEF, derivationPath: "[0123456789abcdef/44'/60'/0'/0/0]" }),
    ),
    'id',
    'an origin without a key here',
  );
  t.is(await get('archiveAddress', rowOf(alice, 1, 'bob', { status: 'archived' })), 'id');
  stage.tell({ ...SAMPLES.listAddresses.data, content: [rowOf(alice, 1, 'bob'), rowOf(bob, 0, 'alice')] });
  t.is((await stage.ask('listAddresses', { data: SAMPLES.listAddresses.data })).kind, 'refused');
  // Of a page only the rows that the record contradicts are left out, and counted; a false row is a lie of the whole.
  const page = async (content: object[], more: object = {}) => {
    stage.tell({ ...SAMPLES.listAddresses.data, ...more, content });
    return stage.ask('listAddresses', { data: SAMPLES.listAddresses.data });
  };
  const good = rowOf(alice, 0, 'alice'),
    known = [rowOf(bob, 1, 'carol'), rowOf(other, 1, 'bob'), rowOf(bob, 1, 'bob', { tag: 'vip' })],
    alarms = stage.alarms();
  const { content, withheld } = dataOf(await page([known[0]!, good, ...known.slice(1)])) as {
    content: unknown[];
    withheld: number;
  };
  t.deepEqual([content, withheld], [[good], 3]);
  t.is(stage.alarms(), alarms + 1, 'one alarm for a page');
  t.like(dataOf(await page(known)), { content: [], withheld: 3 });
  t.is(kindOf(await page([good], { withheld: 7 })), 'passed', 'the count is no word of the cloud');
  t.is(kindOf(await page([good, known[0]!, rowOf(other, 5, 'eve', { address: THIEF })])), 'refused');
});

test('found F44 F12 in sandbox an explorer is the page of the simulated ledger, and no other place', async (t) => {
  const stage = openStage({ environment: 'sandbox', isBroadcast: false });
  const chains = async (explorerUrl: string | null) => {
    stage.tell({ ...SAMPLES.listChains.data, content: [{ ...SAMPLES.listChains.data.content[0]!, explorerUrl }] }, 200);
    return (await stage.ask('listChains')).kind;
  };
  for (const url of [null, 'http://127.0.0.1:8080', 'https://flock.example.com'])
    t.is(await chains(url), 'passed', String(url));
  for (const url of [
    'javascript:alert(1)',
    'https://a@thief.example',
    'https://thief.example/x',
    'https://etherscan.io?x',
    'x',
  ])
    t.is(await chains(url), 'refused', url);
  const txid = WITHDRAWAL_TXID,
    sample = SAMPLES.getTransaction;
  const transaction = async (explorerUrl: string | null) => {
    stage.tell({ ...sample.data, environment: 'sandbox', explorerUrl }, 200);
    return (await stage.ask('getTransaction')).kind;
  };
  for (const url of [null, `http://127.0.0.1:8080/sandbox/explorer/eth/${txid}`])
    t.is(await transaction(url), 'passed', String(url));
  for (const url of [
    `http://127.0.0.1:8080/sandbox/explorer/bsc/${txid}`,
    `https://etherscan.io/tx/${txid}`,
    `javascript:/sandbox/explorer/eth/${txid}`,
    `http://x/sandbox/explorer/eth/${txid}?to=1`,
  ]) {
    t.is(await transaction(url), 'refused', url);
  }
});

test('payments P25: an address of a link passes only at a path of customers of this phrase that derives to it', async (t) => {
  const link = SAMPLES.getPaymentLink.data;
  const refused: readonly [Partial<typeof link>, string][] = [
    [{ address: THIEF }, 'an address of the cloud'],
    [{ address: SECOND }, 'another address of the phrase than the path says'],
    [{ derivationPath: null }, 'no path'],
    [{ derivationPath: "[00000000]m/44'/60'/0'/0/0" }, 'an origin that is not this phrase'],
    [{ address: own.addressAt('eth', "m/44'/60'/0'/1/0"), derivationPath: "m/44'/60'/0'/1/0" }, 'the gas tank'],
    [{ address: null }, 'a path without an address'],
  ];
  for (const operation of ['getPaymentLink', 'createPaymentLink'] as const) {
    for (const [change, what] of refused) {
      const stage = openStage();
      stage.tell({ ...link, ...change }, routeOf(operation).status);
      t.is((await stage.ask(operation)).kind, 'refused', `${operation}: ${what}`);
      t.is(stage.alarms(), 1, what);
    }
    const stage = openStage();
    stage.tell({ ...link, address: SECOND, derivationPath: "m/44'/60'/0'/0/1" }, routeOf(operation).status);
    t.not((await stage.ask(operation)).kind, 'refused', 'another address of customers');
  }
});
