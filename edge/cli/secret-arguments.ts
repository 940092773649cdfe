/** Arguments stand in the process list and in the shell's history: a secret among them is refused before anything. */
import { findKeyMaterialInFields } from '../../protocol/node/key-material.ts';

export const SECRET_ARGUMENT =
  'an argument looks like a phrase or a private key. Arguments stand in the process list and in the history of the\nshell: treat that secret as known, and give secrets only when you are asked for them';

/** A phrase may be given as one argument or as many. */
export function looksSecret(args: readonly string[]): boolean {
  const values = args.map((text) => ({ name: '', text }));
  return (
    findKeyMaterialInFields(values) !== null || findKeyMaterialInFields([{ name: '', text: args.join(' ') }]) !== null
  );
}
