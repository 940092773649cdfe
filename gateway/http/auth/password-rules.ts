/** Which passwords are taken: long ones that nobody guesses first. Any Unicode, compared as it is. Console A5. */
import { refuse, type Refusal } from '../../../protocol/errors.ts';

/** Code points. Source: NIST SP 800-63B-4 §3.1.1.2, for a password that may be the only factor. */
export const PASSWORD_LENGTH_MIN = 15;
const UNIT_LENGTH_MAX = 8;
/** What is left of a password without the names that are known of its user must be as long as this. */
const REST_LENGTH_MIN = 6;
const NAME_LENGTH_MIN = 3;

/**
 * Words that long common passwords are made of. Any row of them with digits and signs between is common: the pairs
 * alone are more than twenty thousand, and a list of them says nothing more.
 */
const WORDS = `password passwort passw0rd p4ssw0rd pass word secret letmein welcome admin administrator root login user
  qwerty qwertz azerty qwertyuiop asdfgh asdfghjkl zxcvbn zxcvbnm qazwsx qazwsxedc yxcvbnm
  iloveyou love loves forever hello world monkey dragon master superman batman princess sunshine shadow football
  baseball basketball soccer hockey michael jordan jennifer jessica charlie ashley daniel thomas george andrew joshua
  matthew hunter ranger buster killer summer winter spring autumn january february march april june july august
  september october november december monday tuesday wednesday thursday friday saturday sunday
  computer internet samsung google apple microsoft windows linux facebook instagram twitter youtube amazon
  trustno1 trust nothing whatever starwars pokemon naruto minecraft fortnite blink liverpool chelsea arsenal barcelona
  freedom jesus christ god angel angels heaven family mother father sister brother baby babygirl cheese chocolate
  cookie banana orange purple yellow silver golden diamond flower butterfly rainbow tiger lion eagle falcon phoenix
  correct horse battery staple the quick brown fox jumps over lazy dog to be or not that is question
  test testing demo default changeme change temp temporary guest access security system server database
  bitcoin ethereum crypto wallet money dollar euro bank coin token blockchain satoshi nakamoto moon hodl lambo
  i you my me is a and new your our one two three four five six seven eight nine zero abc abcd abcde abcdef`
  .split(/\s+/)
  .filter((word) => word !== '');
const COMMON = new RegExp(`^(?:${[...WORDS].sort((left, right) => right.length - left.length).join('|')})+$`);
const RUNS = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
];
const BACKWARDS = RUNS.map((run) => [...run].reverse().join(''));

/** Null for a password that is taken. Refuses: INVALID_INPUT with `reason` too_short, common, context. */
export function passwordRefusal(password: string, names: readonly string[]): Refusal | null {
  const points = [...password];
  const no = (reason: 'too_short' | 'common' | 'context', next: string) =>
    refuse('INVALID_INPUT', { field: 'password', reason, next });
  if (points.length < PASSWORD_LENGTH_MIN)
    return no('too_short', `take ${PASSWORD_LENGTH_MIN} characters or more: several words will do`);
  const lower = password.toLowerCase();
  if (isRepeated([...lower]) || isRun(lower) || isCommon(lower))
    return no('common', 'take one that is not among the first that are tried');
  const left = ['flock', ...names.flatMap(partsOf)]
    .sort((one, other) => other.length - one.length)
    .reduce((rest, name) => rest.replaceAll(name, ''), lower);
  const isNamed = left !== lower && [...left.replace(/[\p{N}\p{P}\p{S}\p{Z}]/gu, '')].length < REST_LENGTH_MIN;
  return isNamed ? no('context', 'take one that is not made of your email, your organization or this product') : null;
}

/** The parts of an email or a name that a password may be made of. */
const partsOf = (name: string): string[] => {
  const lower = name.toLowerCase();
  return [lower, ...lower.split(/[^\p{L}\p{N}]+/u)].filter((part) => [...part].length >= NAME_LENGTH_MIN);
};

/** One unit again and again, the last time perhaps cut. */
function isRepeated(points: readonly string[]): boolean {
  for (let unit = 1; unit <= UNIT_LENGTH_MAX; unit += 1)
    if (points.every((point, at) => point === points[at % unit])) return true;
  return false;
}

/** Pieces of the alphabet, of digits or of a keyboard's rows, one after the other. */
function isRun(text: string): boolean {
  const plain = text.replace(/[^\p{L}\p{N}]/gu, '');
  let at = 0;
  while (at < plain.length) {
    let length = 0;
    for (const run of [...RUNS, ...BACKWARDS])
      for (let size = plain.length - at; size > length; size -= 1)
        if (run.includes(plain.slice(at, at + size))) {
          length = size;
          break;
        }
    if (length < 3) return false;
    at += length;
  }
  return true;
}

function isCommon(text: string): boolean {
  const letters = text
    .replace(/[\p{P}\p{Z}]/gu, '')
    .replace(/^[0-9]+|[0-9]+$/g, '')
    .replace(/[0-9]+(?=[a-z])/g, '');
  return letters === '' || COMMON.test(letters);
}
