/**
 * RATES_FILE: rates of tokens that an operator's program writes, as `PUT /v1/admin/rates` takes them. Read at the
 * start, where it must be readable, and each minute; later observations than the kept ones are kept. Treasury W12.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { z } from 'zod';
import { statedRate, type StatedRate } from '../../../actors/sweep/rates.ts';
import type { ChainAccess } from '../../../model/ports/chain-access.ts';
import type { RateStore } from '../../../model/ports/rate-store.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { pathSetting } from '../../../protocol/node/setting-forms.ts';
import { rateBody } from '../../../protocol/schema/tokens.ts';

/** Above the tokens of a registry. */
const RATES_MAX = 1_000;
const shape = z.array(rateBody).max(RATES_MAX);

const FORM = 'is a JSON file: an array of rates as PUT /v1/admin/rates takes them';

const ratesIn = (text: string): StatedRate[] => shape.parse(JSON.parse(text));

/** Null: it can be read. Contents are never echoed. */
function problemOf(file: string): string | null {
  try {
    ratesIn(readFileSync(file, 'utf8'));
    return null;
  } catch (error) {
    return error instanceof z.ZodError || error instanceof SyntaxError ? FORM : 'cannot be read';
  }
}

/** The setting: a file that can be read. */
export const ratesFileSetting = pathSetting.superRefine((file, { addIssue }) => {
  const message = problemOf(file);
  if (message !== null) addIssue({ code: 'custom', message });
});

export interface HasRatesFile {
  /** Absent: there is nothing to read. */
  readonly ratesFile?: string | undefined;
}

interface RatesParts extends HasRatesFile {
  readonly stores: { readonly rates: Pick<RateStore, 'save'> };
  readonly chains: Pick<ChainAccess, 'tokens'>;
  readonly nowMs: () => number;
  readonly log: Pick<Logger, 'warn'>;
}

/** Keeps what is newer. Throws: the file is not readable, or of another form; it is tried again with the next look. */
export async function ratesRound({ ratesFile, stores, chains, nowMs, log }: RatesParts): Promise<void> {
  if (ratesFile === undefined) return;
  for (const stated of ratesIn(await readFile(ratesFile, 'utf8'))) {
    const rate = statedRate(stated, chains.tokens.current, nowMs());
    if (!isRefusal(rate)) await stores.rates.save(rate, null);
    else
      log.warn(
        { code: rate.code, names: [`${stated.chain}:${stated.tokenContract}`] },
        'a rate of RATES_FILE is not used',
      );
  }
}
