/** Shapes of settings that both processes read: whole numbers in bounds, ports, lists. */
import { z } from 'zod';

/** A whole number as text. `verb`: how the problem says it ("is", "must be"). */
export const wholeNumber = (min: number, max: number, verb = 'is') => {
  const error = `${verb} a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^[0-9]{1,12}$/, error)
    .transform(Number)
    .refine((value) => value >= min && value <= max, error);
};

/** Entries between commas, without the empty ones. */
export const entriesOf = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
