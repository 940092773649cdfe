/**
 * A list of destinations that nothing is built for, as the operator names them. Deposits are never refused or hidden.
 * Console A47.
 */
import { parseAddress } from '../../chains/reading.ts';
import type { Screening } from '../../model/ports/screening.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { CHAINS } from '../../protocol/slugs.ts';

const ENTRY = /^([a-z]+):([^:\s]{1,120}):([A-Za-z0-9._-]{1,60})$/;

/** `chain:address:rule` as chain and canonical text, and the rule; null for what is none. */
function entryOf(text: string): readonly [destination: string, rule: string] | null {
  const [, name, written = '', rule = ''] = ENTRY.exec(text) ?? [];
  const chain = CHAINS.find((one) => one === name);
  if (chain === undefined) return null;
  const parsed = parseAddress(chain, written);
  return isRefusal(parsed) ? null : [`${chain} ${parsed.canonical}`, rule];
}

/** What an entry has to be, as a problem of the setting says it. */
export const SCREENED_FORM = 'each is chain:address:rule, an address of the chain';

/** Whether each entry is one. */
export const areScreened = (entries: readonly string[]): boolean => entries.every((entry) => entryOf(entry) !== null);

/** The screening of a list; entries that are none count for nothing. */
export function screeningOf(entries: readonly string[]): Screening {
  const rules = new Map(entries.map(entryOf).filter((entry) => entry !== null));
  return { ruleOf: async (chain, address) => rules.get(`${chain} ${address}`) ?? null };
}
