/** Terms of a custom band, as an administrator enters them. Console B13. */
import { refuse, type Refusal } from '../../protocol/errors.ts';

/** Each a whole number. */
export const TERMS = [
  ['addresses', 'Addresses'],
  ['monthlyFeeCents', 'Monthly fee in cents of a dollar'],
  ['includedTransactions', 'Included withdrawals'],
  ['overageMills', 'Each above, in thousandths of a dollar'],
  ['requestsPerMinute', 'Requests a minute'],
] as const;
type Terms = Readonly<Record<(typeof TERMS)[number][0], number>>;

/** All of them, or none where every field is empty. */
export function termsOf(values: Readonly<Record<string, string>>): { terms?: Terms } | Refusal {
  const given = TERMS.map(([name]) => [name, (values[name] ?? '').trim()] as const);
  if (given.every(([, text]) => text === '')) return {};
  const missing = given.find(([, text]) => !/^[0-9]+$/.test(text));
  return missing === undefined
    ? { terms: Object.fromEntries(given.map(([name, text]) => [name, Number(text)])) as Terms }
    : refuse('INVALID_INPUT', { field: missing[0], reason: 'a whole number: terms are agreed on as a whole' });
}
