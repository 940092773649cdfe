/**
 * Which path leads from an extended public key to an address that is known: the shapes that wallets use below a key,
 * and for each the path of the whole wallet that it stands for. Nothing is stored. Spec §4.8.
 *
 * One address at `0/0` may be the first of an account or the account of one address each (Ledger Live); a second one
 * decides: it is found below the same key, or it is not.
 */
import { setImmediate as otherWork } from 'node:timers/promises';
import secp256k1 from 'secp256k1';
import {
  addressOfKey as bitcoinAddress,
  ACCOUNT_PATHS,
  SCRIPT_TYPES,
  type ScriptType,
} from '../../../chains/btc/derive.ts';
import { bitcoin } from '../../../chains/btc/network.ts';
import { addressOfPublicKey as evmAddress } from '../../../chains/evm/derive.ts';
import { networkOf } from '../../../chains/registry.ts';
import { HARDENED, keyNodeOf, parseXpub, type ExtendedPublicKey } from '../../../chains/secp256k1.ts';
import { addressOfKey as tronAddress } from '../../../chains/tron/derive.ts';
import { addressOfKey as rippleAddress } from '../../../chains/xrp/derive.ts';
import { isRefusal, refuse } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { FAMILY_OF, type Chain } from '../../../protocol/slugs.ts';
import { Turns } from '../../../protocol/turns.ts';
import { parseAddress } from '../../../chains/reading.ts';
import { accountOf, type Handlers } from '../context.ts';

/** Indexes of each shape that are tried: about 30 ms of work, in pieces between which others have their turn. */
export const INDEXES_TRIED = 100;
const INDEXES_AT_ONCE = 10;
/** Below a key: the branch of customers, the branch of change, and wallets without branches. */
const SHAPES = ['0/i', '1/i', 'i'] as const;
type Shape = (typeof SHAPES)[number];
/** m / purpose' / coin' / account'. */
const ACCOUNT_DEPTH = 3;

interface Found {
  readonly shape: Shape;
  readonly index: number;
  readonly script: ScriptType | null;
}

/** An account has one search at work: its others wait, and take no turn of the loop from other accounts. */
const searches = new Turns<AccountId>();

export const detectPathHandler: Pick<Handlers, 'detectPath'> = {
  async detectPath(asked) {
    const { chain, xpub, knownAddress, secondAddress } = asked.body;
    const key = parseXpub(xpub);
    if (!key.ok)
      return isRefusal(key) && key.code === 'INVALID_INPUT'
        ? refuse('INVALID_INPUT', { ...key.details, field: 'xpub' })
        : key;
    const known = parseAddress(chain, knownAddress);
    if (isRefusal(known)) return refuse('INVALID_ADDRESS', { ...known.details, field: 'knownAddress' });
    const second = secondAddress == null ? null : parseAddress(chain, secondAddress);
    if (isRefusal(second)) return refuse('INVALID_ADDRESS', { ...second.details, field: 'secondAddress' });
    const look = (address: string) => searches.take(accountOf(asked), () => search(key, chain, address));
    const found = await look(known.canonical);
    if (found === null) return { candidates: [], indexesTried: INDEXES_TRIED };
    const other = second === null ? null : await look(second.canonical);
    const account = key.depth === ACCOUNT_DEPTH && key.index >= HARDENED ? key.index - HARDENED : null;
    return {
      candidates: candidatesOf(chain, found, account, second === null ? 'unknown' : other?.shape === found.shape),
      indexesTried: INDEXES_TRIED,
    };
  },
};

/** Wallets that are consistent with what was found; `sameKey`: whether the second address is below the key too. */
function candidatesOf(
  chain: Chain,
  { shape, index, script }: Found,
  account: number | null,
  sameKey: boolean | 'unknown',
): ReplyOf<'detectPath'>['candidates'] {
  const base = account === null ? 'M' : accountBase(chain, script);
  const relative = shape.replace('i', String(index));
  const path = account === null ? `M/${relative}` : `${base}/${account}'/${relative}`;
  const counted = { template: account === null ? `M/${shape}` : `${base}/${account}'/${shape}`, path, script };
  const perAccount = { template: `${base}/i'/${shape.replace('i', '0')}`, path, script };
  const mayBePerAccount = account !== null && index === 0 && shape === '0/i';
  return [
    ...(sameKey === false && mayBePerAccount ? [] : [counted]),
    ...(sameKey !== true && mayBePerAccount ? [perAccount] : []),
  ];
}

/** `m/44'/60'` and so on: the account's path without the account. */
function accountBase(chain: Chain, script: ScriptType | null): string {
  const path = script === null ? networkOf(chain).accountPath : ACCOUNT_PATHS[script];
  return path.slice(0, path.lastIndexOf('/'));
}

async function search(key: ExtendedPublicKey, chain: Chain, address: string): Promise<Found | null> {
  const root = keyNodeOf(key.publicKey, key.chainCode);
  for (const shape of SHAPES) {
    const branch = shape === 'i' ? root : root.childOf(Number(shape[0]));
    for (let index = 0; index < INDEXES_TRIED; index += 1) {
      if (index % INDEXES_AT_ONCE === 0) await otherWork();
      const script = scriptOf(chain, branch.publicKeyOf(index), address);
      if (script !== undefined) return { shape, index, script };
    }
  }
  return null;
}

/** Script type under which a key has an address, null where the chain has none, undefined where it is not the key's. */
function scriptOf(chain: Chain, publicKey: Uint8Array, address: string): ScriptType | null | undefined {
  const uncompressed = () => secp256k1.publicKeyConvert(publicKey, false);
  switch (FAMILY_OF[chain]) {
    case 'evm':
      return evmAddress(uncompressed()) === address ? null : undefined;
    case 'tron':
      return tronAddress(uncompressed()) === address ? null : undefined;
    case 'xrp':
      return rippleAddress(publicKey) === address ? null : undefined;
    default:
      return scriptsLike(address).find((script) => bitcoinAddress(bitcoin.prefixes, publicKey, script) === address);
  }
}

/** What the first characters leave: a taproot key costs as much as ten others. */
function scriptsLike(address: string): readonly ScriptType[] {
  if (address.startsWith('bc1p')) return ['p2tr'];
  return address.startsWith('bc1')
    ? ['p2wpkh']
    : SCRIPT_TYPES.filter((script) => script === 'p2pkh' || script === 'p2sh-p2wpkh');
}
