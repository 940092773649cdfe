/** Forms of settings that both processes have: what an operator cannot have meant is refused at the start. */
import { isIP } from 'node:net';
import { z } from 'zod';
import { entriesOf } from './setting-shapes.ts';

const NAME_CHARACTERS_MAX = 253;
const PATH_CHARACTERS_MAX = 4_096;

export const HOST_FORM =
  'must be a host name or an address alone, such as 0.0.0.0 or flock.internal: no scheme, port or path; other letters in the xn-- form';
export const PATH_FORM = 'must be a path of at most 4096 characters, without line breaks';
export const LINE_FORM = 'must be one line of text';

/**
 * Whether a text is an address, or a name of letters, digits, `-`, `_` and dots. A name whose last part is a number is
 * a port that was meant, or an address that is none.
 */
export function isHost(text: string): boolean {
  if (isIP(text) !== 0) return true;
  const labels = text.replace(/\.$/, '').split('.');
  return (
    text.length <= NAME_CHARACTERS_MAX &&
    labels.every((label) => /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/.test(label)) &&
    !/^[0-9]+$/.test(labels.at(-1)!)
  );
}

/** Whether a text can be a path: a URL in its place would become a directory of that name. */
export const isPath = (text: string): boolean =>
  text.length <= PATH_CHARACTERS_MAX && !/\p{Cc}/u.test(text) && !text.includes('://');

export const isLine = (text: string): boolean => !/[\p{Cc}\u2028\u2029]/u.test(text);

/** Whether every entry of a list is there once. */
export const isOnceEach = (entries: readonly unknown[]): boolean => new Set(entries).size === entries.length;
export const ONCE_FORM = 'names an entry twice: name each once';
/** A list of blanks names nothing; who means none leaves the setting out. */
export const isNamed = (text: string): boolean => text.trim() !== '';
export const NAMED_FORM = 'names nothing: leave it out, or name an entry';

export const hostSetting = z.string().refine(isHost, HOST_FORM);
export const pathSetting = z.string().refine(isPath, PATH_FORM);
export const lineSetting = z.string().refine(isLine, LINE_FORM);
export const listSetting = z.string().refine(isNamed, NAMED_FORM).transform(entriesOf);

/** A list of such entries, each once, `least` to `most` of them. */
export const listOf = <T extends z.ZodType<unknown, string>>(entry: T, most: number, least = 0) =>
  listSetting.pipe(z.array(entry).min(least).max(most).refine(isOnceEach, ONCE_FORM));

/** Public halves of the registry keys: two of them sign each version of the token registry. */
export const listOfRegistryKeys = listSetting
  .pipe(
    z
      .array(z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits, lower case: an Ed25519 public key'))
      .refine(isOnceEach, ONCE_FORM),
  )
  .default([]);

/** A setting and what is wrong with it; of a list also with which entry, from 1. */
export const problemOf = ({ path: [name, at], message }: z.core.$ZodIssue, oneOf = 'is one of'): string =>
  `${String(name)}: ${typeof at === 'number' ? `entry ${at + 1} ` : ''}${message.replace(/^Invalid option: expected one of/, oneOf)}`;
