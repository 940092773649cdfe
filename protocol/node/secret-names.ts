/** Names of columns that only secrets have, whatever is in them: an empty one is a mistake that is about to be made. */

const WORDS: ReadonlySet<string> = new Set([
  'secret',
  'seed',
  'mnemonic',
  'phrase',
  'passphrase',
  'wif',
  'xprv',
  'keystore',
  'password',
  'pin',
  'privkey',
]);
const JOINED = /privatekey|privkey|secretkey|seedphrase|mnemonic|passphrase/;

/** `Private Key`, `seed_phrase`, `walletSeed`: the words of a name, and the name without its separators. */
export function isSecretName(name: string): boolean {
  if (name.length > 64) return false;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.some((word) => WORDS.has(word)) || JOINED.test(words.join(''));
}
