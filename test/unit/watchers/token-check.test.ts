import test from 'ava';
import { createTokenCheck } from '../../../chain-watchers/follow/token-check.ts';
import { ChainUnavailable, type Token, type TokenFacts } from '../../../chains/chain.ts';
import type { TokenCode } from '../../../chains/contract-call.ts';
import { eth } from '../../../chains/evm/network.ts';
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import { createFigures } from '../../support/figures.ts';
import { Recorder } from '../../support/watching.ts';
import { createMemoryWatchStore } from '../../../persistence/memory/watch-store.ts';

const token = (contract: string, decimals: number): Token =>
  ({ chain: 'eth', contract, symbol: contract.toUpperCase(), decimals }) as Token;
const CATALOGUE = new Map(
  [token('right', 6), token('wrong', 6), token('gone', 6), token('late', 18)].map((one) => [one.contract, one]),
);
const facts = (decimals: number): TokenFacts => ({ symbol: 'X', name: 'X', decimals });

type Codes = Record<string, TokenCode | Error>;
type Store = ReturnType<typeof createMemoryWatchStore>;
const code = (text: string, more: Partial<TokenCode> = {}): TokenCode => ({
  text,
  isDeprecated: false,
  declined: null,
  ...more,
});
const RIGHT = { right: facts(6), wrong: facts(6), gone: facts(6), late: facts(18) };
const HOUR_MS = 3_600_000;

function started(
  answers: Record<string, TokenFacts | Refusal | Error>,
  { codes, store = createMemoryWatchStore(() => 0) }: { codes?: Codes; store?: Store } = {},
) {
  const asked: string[] = [],
    looked: string[] = [],
    clock = { elapsedMs: 0 },
    figures = createFigures(),
    log = new Recorder();
  const fetchTokenCode = async (contract: string) => {
    looked.push(contract);
    const answer = codes![contract] ?? code('same');
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const client = {
    fetchTokenFacts: async (contract: string) => {
      asked.push(contract);
      const answer = answers[contract]!;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    ...(codes === undefined ? {} : { fetchTokenCode }),
  };
  const elapsedMs = () => clock.elapsedMs,
    parts = { network: eth, catalogue: CATALOGUE, client, store, elapsedMs, log, metrics: figures };
  return { asked, answers, looked, clock, store, figures, log, check: createTokenCheck(parts) };
}

test('K4 C9-68 a token whose decimals the chain contradicts is taken in no more; one that is unknown or unread stays', async (t) => {
  const { check, asked, answers, figures, log } = started({
    right: facts(6),
    wrong: facts(18),
    gone: refuse('TOKEN_NOT_SUPPORTED'),
    late: new ChainUnavailable('eth', 'busy'),
  });
  t.is(check.catalogue(), CATALOGUE);
  t.is(await check.run(), 1);
  t.deepEqual([...check.catalogue().keys()], ['right', 'gone', 'late']);
  t.deepEqual(figures.gauge('svc_tokens_off'), { eth: 1 });
  t.true(
    log.lines.some(
      ({ level, fields }) => level === 'error' && (fields as { tokenContract?: string }).tokenContract === 'wrong',
    ),
  );
  answers['late'] = facts(6);
  t.is(await check.run(), 0);
  t.deepEqual(asked.filter((contract) => contract !== 'late').length, 3, 'what was told is not asked again');
  t.deepEqual([...check.catalogue().keys()], ['right', 'gone']);
  t.is(await check.run(), 0);
  t.is(asked.length, 5);
});

test('K4 a fault of ours is no word of the chain', async (t) => {
  const { check } = started({ right: facts(6), wrong: new TypeError('ours'), gone: facts(6), late: facts(18) });
  await t.throwsAsync(check.run(), { instanceOf: TypeError });
});

test('treasury K18: a contract that runs something new is looked at once more, at start and hourly; what does not pass is off', async (t) => {
  const codes: Codes = { right: code('one', { declined: 'paused' }) },
    world = started({ ...RIGHT }, { codes }),
    { check, looked, clock, figures, log, answers, store } = world;
  await check.run();
  t.is(check.catalogue(), CATALOGUE, 'a first look has nothing to compare with');
  t.is(looked.length, CATALOGUE.size);
  await check.run();
  t.is(looked.length, CATALOGUE.size, 'not due');

  clock.elapsedMs = HOUR_MS;
  codes['right'] = code('two');
  await check.run();
  t.is(check.catalogue(), CATALOGUE, 'equal decimals and a transfer that runs');
  t.is(await store.tokenCode('eth', 'right'), 'two', 'noted');

  clock.elapsedMs = 2 * HOUR_MS;
  codes['right'] = code('three', { declined: 'blocked' });
  codes['wrong'] = code('three');
  answers['wrong'] = facts(18);
  await check.run();
  t.deepEqual([...check.catalogue().keys()], ['gone', 'late']);
  t.deepEqual(figures.gauge('svc_tokens_off'), { eth: 2 });
  t.is(await store.tokenCode('eth', 'right'), 'two', 'what does not pass is not noted');
  const errors = log.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields);
  t.deepEqual(errors, [
    { chain: 'eth', tokenContract: 'right', reason: 'blocked' },
    { chain: 'eth', tokenContract: 'wrong', reason: 'it reports other decimals' },
  ]);
  const restarted = started({ ...answers } as never, { codes, store });
  await restarted.check.run();
  t.deepEqual([...restarted.check.catalogue().keys()], ['gone', 'late'], 'a new process compares with what was noted');

  codes['right'] = code('three');
  await check.run();
  t.deepEqual([...check.catalogue().keys()], ['right', 'gone', 'late'], 'one that is off is asked about each time');
});

test('treasury K18: a contract that says that another took its place counts as changed; one that cannot be asked changes nothing', async (t) => {
  const codes: Codes = {
      right: code('old', { isDeprecated: true, declined: 'moved' }),
      late: new ChainUnavailable('eth', 'busy'),
    },
    { check, looked } = started({ ...RIGHT }, { codes });
  await check.run();
  t.deepEqual([...check.catalogue().keys()], ['wrong', 'gone', 'late']);
  looked.length = 0;
  codes['late'] = new ChainUnavailable('eth', 'still busy');
  await check.run();
  t.deepEqual(looked.toSorted(), ['late', 'right'], 'asked again: what did not answer, and what is off');
  const { check: faulty } = started({ ...RIGHT }, { codes: { right: new TypeError('ours') } });
  await t.throwsAsync(faulty.run(), { instanceOf: TypeError });
});
