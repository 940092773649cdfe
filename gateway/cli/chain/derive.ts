/** The `derive` operation: the address at `change/index` below an extended public key. */
import { SCRIPT_TYPES, deriveAddress, type ScriptType } from '../../../chains/btc/derive.ts';
import { bitcoin } from '../../../chains/btc/network.ts';
import { factsOf, networkOf } from '../../../chains/registry.ts';
import { HARDENED, parseXpub } from '../../../chains/secp256k1.ts';
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import type { Request } from '../../../protocol/node/json-lines.ts';
import { chainField, integerField, textField, wordField } from '../../../protocol/node/request-fields.ts';

/** What the version bytes of a key say of its script type. Source: SLIP-0132; a plain xpub says nothing. */
const SCRIPT_OF_VERSION: Readonly<Record<'xpub' | 'ypub' | 'zpub', ScriptType>> = {
  xpub: 'p2wpkh',
  ypub: 'p2sh-p2wpkh',
  zpub: 'p2wpkh',
};

/** `{address, path}`. Refuses: INVALID_CHAIN, INVALID_INPUT, KEY_MATERIAL_REJECTED. */
export function derive(request: Request): object | Refusal {
  const chain = chainField(request);
  const { derivation } = factsOf(chain);
  if (derivation.kind === 'pool') {
    return refuse('INVALID_INPUT', {}, `chain: ${chain} has no extended public keys; the edge derives its addresses`);
  }
  const key = parseXpub(textField(request, 'xpub'));
  if (!key.ok) return key;
  const change = integerField(request, 'change', [0, 1], 0) as 0 | 1;
  const index = integerField(request, 'index', [0, HARDENED - 1]);
  const path = `M/${change}/${index}`;
  if (chain !== 'btc')
    return { address: derivation.deriveAddress(networkOf(chain), key.xpub, change, index).address, path };
  const script = scriptField(request, SCRIPT_OF_VERSION[key.version]);
  return { address: deriveAddress(bitcoin, key.xpub, change, index, script).address, path };
}

/** `p2sh` is read as its only form below an account key. */
function scriptField(request: Request, fallback: ScriptType): ScriptType {
  const word = wordField(request, 'script', [...SCRIPT_TYPES, 'p2sh'] as const, fallback);
  return word === 'p2sh' ? 'p2sh-p2wpkh' : word;
}
