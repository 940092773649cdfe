import test from 'ava';
import { createTokenCheck } from '../../../chain-watchers/follow/token-check.ts';
import { ChainUnavailable, type Token, type TokenFacts } from '../../../chains/chain.ts';
import { eth } from '../../../chains/evm/network.ts';
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import { createFigures } from '../../support/figures.ts';
import { Recorder } from '../../support/watching.ts';

const token = (contract: string, decimals: number): Token =>
  ({ chain: 'eth', contract, symbol: contract.toUpperCase(), decimals }) as Token;
const CATALOGUE = new Map(
  [token('right', 6), token('wrong', 6), token('gone', 6), token('late', 18)].map((one) => [one.contract, one]),
);
const facts = (decimals: number): TokenFacts => ({ symbol: 'X', name: 'X', decimals });

function started(answers: Record<string, TokenFacts | Refusal | Error>) {
  const asked: string[] = [],
    figures = createFigures(),
    log = new Recorder();
  const client = {
    fetchTokenFacts: async (contract: string) => {
      asked.push(contract);
      const answer = answers[contract]!;
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return {
    asked,
    answers,
    figures,
    log,
    check: createTokenCheck({ network: eth, catalogue: CATALOGUE, client, log, metrics: figures }),
  };
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
