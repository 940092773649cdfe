/** All refusals to sign, as the vector has them. */
import * as btc from './btc.ts';
import * as evm from './evm.ts';
import { answersOf, type Answers } from './everywhere.ts';
import * as sol from './sol.ts';
import * as tron from './tron.ts';
import * as xlm from './xlm.ts';
import * as xrp from './xrp.ts';

export interface Refusals {
  /** Long texts, by number. */
  readonly texts: readonly string[];
  readonly families: Readonly<Record<string, Answers>>;
}

export const STAGES = {
  btc: btc.stage,
  evm: evm.stage,
  base: evm.ofBase,
  tron: tron.stage,
  sol: sol.stage,
  xrp: xrp.stage,
  xlm: xlm.stage,
} as const;

export function recorded(): Refusals {
  const texts: string[] = [];
  const families = Object.fromEntries(
    Object.entries(STAGES).map(([family, stage]) => [family, answersOf(stage, texts)]),
  );
  return { texts, families };
}
