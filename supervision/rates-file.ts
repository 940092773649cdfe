/**
 * RATES_FILE: rates of tokens that an operator's program writes, as `PUT /v1/admin/rates` takes them. Read at the start,
 * where it must be readable, and each minute; later observations than the kept ones are kept. Treasury W12.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Logger } from 'pino';
import { statedRate, type StatedRate } from '../actors/sweep/rates.ts';
import type { Registry } from '../chains/catalogue.ts';
import type { RateStore } from '../model/ports/rate-store.ts';
import { isRefusal } from '../protocol/errors.ts';
import { rateBody } from '../protocol/schema/tokens.ts';

/** Above the tokens of a registry. */
const RATES_MAX = 1_000;
const rates = z.array(rateBody).max(RATES_MAX);

const FORM = 'is a JSON file: an array of rates as PUT /v1/admin/rates takes them';

/** What is wrong with the file, null where nothing is. Contents are never echoed. */
export function ratesFileProblem(file: string): string | null {
  try {
    ratesIn(readFileSync(file, 'utf8'));
    return null;
  } catch (error) {
    return error instanceof z.ZodError || error instanceof SyntaxError ? FORM : 'cannot be read';
  }
}

const ratesIn = (text: string): StatedRate[] => rates.parse(JSON.parse(text));

/** Keeps what is newer. Throws: the file is not readable, or of another form; it is tried again with the next look. */
export async function readRatesFile(
  file: string,
  {
    store,
    registry,
    nowMs,
    log,
  }: {
    readonly store: Pick<RateStore, 'save'>;
    readonly registry: Registry;
    readonly nowMs: number;
    readonly log: Pick<Logger, 'warn'>;
  },
): Promise<number> {
  let kept = 0;
  for (const stated of ratesIn(await readFile(file, 'utf8'))) {
    const rate = statedRate(stated, registry, nowMs);
    if (!isRefusal(rate)) kept += (await store.save(rate, null)) ? 1 : 0;
    else
      log.warn(
        { code: rate.code, names: [`${stated.chain}:${stated.tokenContract}`] },
        'a rate of RATES_FILE is not used',
      );
  }
  return kept;
}
