/** Rates of tokens from an operator's file. Treasury W12. */
import test from 'ava';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shippedRegistry } from '../../../chains/catalogue.ts';
import type { TokenRate } from '../../../model/ports/rate-store.ts';
import { ratesFileSetting, ratesRound } from '../../../gateway/http/treasury/rates-file.ts';
import { NOW_MS } from '../../support/account.ts';

const file = join(mkdtempSync(join(tmpdir(), 'rates-')), 'rates.json');
const write = (text: string) => writeFileSync(file, text);
const problemOf = (text: string) => ratesFileSetting.safeParse(text).error?.issues[0]?.message;
const rate = {
  chain: 'eth',
  tokenContract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  numerator: '3000',
  denominator: '1000000000000',
  observedAt: new Date(NOW_MS).toISOString(),
};

test.serial(
  'treasury W12: a file of rates is kept; one that is stale or of no token is named and left out',
  async (t) => {
    const kept: TokenRate[] = [],
      said: object[] = [];
    const read = () =>
      ratesRound({
        ratesFile: file,
        stores: { rates: { save: async (one, by) => by === null && kept.push(one) > 0 } },
        chains: { tokens: { current: shippedRegistry } } as never,
        nowMs: () => NOW_MS,
        log: { warn: (facts: object) => void said.push(facts) } as never,
      });
    const stale = { ...rate, observedAt: new Date(NOW_MS - 86_400_000).toISOString() };
    write(JSON.stringify([stale, rate, { ...rate, tokenContract: `0x${'1'.repeat(40)}` }]));
    t.is(problemOf(file), undefined);
    await read();
    t.like(kept, [{ chain: 'eth', contract: rate.tokenContract, numerator: 3_000n, denominator: 10n ** 12n }]);
    t.like(said, [{ code: 'INVALID_INPUT' }, { code: 'TOKEN_NOT_SUPPORTED' }]);
    write('[{');
    await t.throwsAsync(read);
  },
);

test.serial('treasury W12: a file that is none is said at the start, without its contents', (t) => {
  t.is(problemOf(`${file}.absent`), 'cannot be read');
  for (const text of [
    '',
    '{}',
    JSON.stringify([{ ...rate, numerator: 3_000 }]),
    JSON.stringify([{ ...rate, more: 1 }]),
  ]) {
    write(text);
    t.regex(problemOf(file)!, /^is a JSON file: an array of rates/, text);
  }
});
