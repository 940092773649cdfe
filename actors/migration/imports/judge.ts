/**
 * What a row or range of an import file is: an address of a chain, where its key is, and whom it is for. Pure; a row
 * with an error takes no part in what follows. Migration M-I3–M-I6, M-U9.
 */
import type { Tokens } from '../../../chains/tokens.ts';
import type { ParsedAddress } from '../../../chains/chain.ts';
import { bitcoin } from '../../../chains/btc/network.ts';
import { addressOf, outputOf } from '../../../chains/btc/script.ts';
import { factsOf, networkOf } from '../../../chains/registry.ts';
import { HARDENED, parseXpub } from '../../../chains/secp256k1.ts';
import type { KeySource } from '../../../model/account/key-source.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { chainNamed, type ImportField, type RowCode } from '../../../protocol/migration/imports.ts';
import type { Phase, Severity } from '../../../protocol/migration/words.ts';
import { addressKeyOf } from '../../../protocol/node/ids.ts';
import { FAMILY_OF, type Chain, type Environment, type Family } from '../../../protocol/slugs.ts';
import { derived } from '../../key-source/decide.ts';
import { shown, type Entry } from '../formats/entry.ts';

/** Public keys that the account knows. */
export interface KnownKeys {
  /** Of its own phrase, by family. */
  readonly own: Readonly<Partial<Record<Family, { readonly xpub: string; readonly accountPath: string }>>>;
  readonly sources: readonly KeySource[];
}

export interface Judging extends KnownKeys {
  readonly environment: Environment;
  /** Of rows that name none. */
  readonly chain: Chain | null;
  readonly catalogueOf: Tokens['catalogueOf'];
}

export interface JudgedRow {
  readonly kind: 'row';
  readonly line: number;
  readonly chain: Chain;
  readonly family: Family;
  readonly address: string;
  readonly addressKey: string;
  /** Absolute, an origin `[…]`, or `[]` where nobody has derived it. */
  readonly derivationPath: string;
  /** Of an own path `0/i`: the next index issued is above it. */
  readonly ownIndex: number | null;
  readonly userRef: string | null;
  readonly tag: string | null;
  readonly label: string | null;
}

export interface Finding {
  readonly kind: 'finding';
  readonly phase: Phase;
  readonly severity: Severity;
  readonly code: RowCode;
  readonly line: number;
  readonly field: string | null;
  readonly message: string;
}
export type Judged = JudgedRow | Finding;

const USER_REF_CHARS_MAX = 255,
  TAG_CHARS_MAX = 100,
  LABEL_CHARS_MAX = 200;
/** Own addresses among which a row without a path is looked for. */
const OWN_INDEXES = 1_000;
/** The next address that is issued is above the highest own one that was adopted (M-K8). */
const OWN_INDEX_MAX = 1_999_999_999;
const RANGE_MAX = 1_000_000;
/** Chains of which an address without one can be meant: the five EVM networks are one. */
const GUESSED: readonly Chain[] = ['eth', 'btc', 'tron', 'sol', 'xrp', 'xlm'];

const finding = (phase: Phase, code: RowCode, line: number, message: string, more: Partial<Finding> = {}): Finding => ({
  kind: 'finding',
  phase,
  severity: 'error',
  code,
  line,
  field: null,
  message,
  ...more,
});

type Fields = Readonly<Partial<Record<ImportField, string>>>;
interface Place {
  readonly chain: Chain;
  readonly text: string;
}
/** Where an address is derived from, as the file says it. */
interface Claim {
  readonly xpub: string | null;
  readonly path: string | null;
}

export class Judge {
  readonly #judging: Judging;
  readonly #memos = new Map<string, string>();
  readonly #ownAddresses = new Map<Family, ReadonlyMap<string, number>>();

  constructor(judging: Judging) {
    this.#judging = judging;
  }

  /** What an entry says, one address after the other: a range is as many as it names. */
  *judge(entry: Entry): Generator<Judged> {
    if (entry.kind === 'row') yield* this.#row(entry.line, entry.fields);
    else if (entry.kind === 'scanned') yield* this.#row(entry.line, entry.fields, entry.xpub);
    else if (entry.kind === 'keyed') yield* this.#keyed(entry.line, entry.fields);
    else yield* this.#descriptor(entry);
  }

  *#row(line: number, fields: Fields, xpub: string | null = null): Generator<Judged> {
    const place = this.#place(line, fields);
    if ('kind' in place) return yield place;
    const wrong = texts(line, fields);
    if (wrong !== null) return yield wrong;
    const path = fields.path === undefined || fields.path === '' ? null : normalPath(fields.path);
    if (fields.path !== undefined && fields.path !== '' && path === null)
      return yield finding('schema', 'bad_index', line, `no path: ${shown(fields.path)}`, { field: 'path' });
    yield* this.#address(line, place, { xpub, path }, fields);
  }

  #place(line: number, fields: Fields): Place | Finding {
    const text = (fields.address ?? '').trim();
    if (text === '') return finding('schema', 'missing_address', line, 'no address', { field: 'address' });
    const named = (fields.chain ?? '').trim();
    if (named !== '') {
      const chain = chainNamed(named);
      if (chain === 'INVALID_CHAIN' || chain === 'chain_ambiguous')
        return finding('schema', chain, line, `chain ${shown(named)}`, { field: 'chain' });
      return { chain, text };
    }
    const { chain } = this.#judging;
    if (chain !== null) return { chain, text };
    const meant = GUESSED.filter((one) => parsed(one, text) !== null);
    if (meant.length === 1) return { chain: meant[0]!, text };
    return finding('schema', 'missing_chain', line, 'the address does not say its chain', { field: 'chain' });
  }

  *#address(line: number, { chain, text }: Place, claim: Claim, fields: Fields): Generator<Judged> {
    const family = FAMILY_OF[chain],
      network = networkOf(chain),
      facts = factsOf(chain);
    const read = facts.parseAddress(network, text);
    const canonical = isRefusal(read) && read.details['reason'] === 'checksum' ? read.details['canonical'] : undefined;
    const address = typeof canonical === 'string' ? facts.parseAddress(network, canonical) : read;
    if (isRefusal(address)) {
      const { reason } = address.details;
      return yield invalid(line, typeof reason === 'string' ? reason : 'no address of this chain');
    }
    const refused = facts.checkDestination(network, address, this.#judging.catalogueOf(chain));
    if (refused !== null)
      return yield invalid(line, String(refused.details['reason'] ?? 'not an address of a customer'));
    if (family === 'xlm' && address.tag !== null) return yield invalid(line, 'muxed');
    const memo = (fields.memo ?? '').trim() === '' ? address.tag : fields.memo!.trim();
    if (memo !== null && (this.#memos.get(address.canonical) ?? memo) !== memo)
      return yield finding('chain_format', 'shared_address_with_tag', line, 'one address with several memos', {
        field: 'memo',
      });
    if (memo !== null) this.#memos.set(address.canonical, memo);
    if (address !== read)
      yield finding('chain_format', 'eip55_case', line, 'the checksum of the letters is wrong', {
        severity: 'warning',
      });
    if (family === 'xrp' && address.tag !== null)
      yield finding('chain_format', 'x_address', line, 'the classic address is adopted', { severity: 'warning' });
    yield* this.#traced(line, chain, address, claim, fields);
  }

  *#traced(line: number, chain: Chain, address: ParsedAddress, claim: Claim, fields: Fields): Generator<Judged> {
    const family = FAMILY_OF[chain];
    const own = this.#own(chain, address.canonical, claim);
    if (own === 'mismatch')
      return yield finding('derivation', 'path_mismatch', line, 'the path leads to another address', { field: 'path' });
    if (own !== null && own.change === 0 && own.index > OWN_INDEX_MAX)
      return yield finding('derivation', 'bad_index', line, 'no index above it would be left to issue', {
        field: 'path',
      });
    if (own !== null && own.change === 1 && own.index <= 1)
      return yield finding('derivation', 'own_address', line, 'the gas tank or treasury of the account');
    const origin = own === null ? this.#origin(family, address.canonical, claim) : own.path;
    if (origin === 'mismatch')
      return yield finding('derivation', 'path_mismatch', line, 'the path leads to another address', { field: 'path' });
    if (origin === null)
      yield finding('derivation', 'untraced', line, 'no key that the account knows leads to it', {
        severity: 'warning',
      });
    const text = (field: 'userRef' | 'tag' | 'label') => (fields[field] === '' ? null : (fields[field] ?? null));
    yield {
      kind: 'row',
      line,
      chain,
      family,
      address: address.canonical,
      addressKey: addressKeyOf(this.#judging.environment, family, address.bytes),
      derivationPath: origin ?? '[]',
      ownIndex: own !== null && own.change === 0 ? own.index : null,
      userRef: text('userRef'),
      tag: text('tag'),
      label: text('label'),
    };
  }

  /** The path below the account's own key: as claimed, else among its first indexes. */
  #own(
    chain: Chain,
    address: string,
    { xpub, path }: Claim,
  ): { path: string; change: number; index: number } | 'mismatch' | null {
    const family = FAMILY_OF[chain],
      key = this.#judging.own[family],
      { derivation } = factsOf(chain);
    if (key === undefined || derivation.kind !== 'xpub') return null;
    if (path !== null) {
      if (!path.startsWith(`${key.accountPath}/`) || (xpub !== null && xpub !== key.xpub)) return null;
      const [, change, index] = /^([01])\/(\d+)$/.exec(path.slice(key.accountPath.length + 1)) ?? [];
      if (change === undefined || Number(index) >= HARDENED) return null;
      const there = derivation.deriveAddress(networkOf(chain), key.xpub, Number(change) as 0 | 1, Number(index));
      // Another wallet's phrase has the same path.
      return there.address === address ? { path, change: Number(change), index: Number(index) } : null;
    }
    const index = this.#ownIndexes(chain, key.xpub).get(address);
    return index === undefined ? null : { path: `${key.accountPath}/0/${index}`, change: 0, index };
  }

  #ownIndexes(chain: Chain, xpub: string): ReadonlyMap<string, number> {
    const family = FAMILY_OF[chain],
      known = this.#ownAddresses.get(family);
    if (known !== undefined) return known;
    const { derivation } = factsOf(chain),
      made = new Map<string, number>();
    for (let index = 0; derivation.kind === 'xpub' && index < OWN_INDEXES; index += 1)
      made.set(derivation.deriveAddress(networkOf(chain), xpub, 0, index).address, index);
    this.#ownAddresses.set(family, made);
    return made;
  }

  /** `[fingerprint/path]` below a key of an active or purged source; null where none is known for the claim. */
  #origin(family: Family, address: string, { xpub, path }: Claim): string | 'mismatch' | null {
    if (path === null) return null;
    for (const { fingerprint, keys } of this.#judging.sources) {
      const key = keys.find(
        (one) =>
          one.family === family &&
          one.path !== null &&
          path.startsWith(`${one.path}/`) &&
          (xpub ?? one.xpub) === one.xpub,
      );
      if (key === undefined) continue;
      if (family !== 'evm') return xpub === null ? null : `[${fingerprint}${path.slice(1)}]`;
      const there = derived([key], path);
      if (there === address) return `[${fingerprint}${path.slice(1)}]`;
      if (there !== null && this.#judging.sources.length === 1) return 'mismatch';
    }
    return null;
  }

  *#keyed(line: number, fields: Readonly<Partial<Record<string, string>>>): Generator<Judged> {
    const chain = chainNamed(fields['chain'] ?? '');
    if (chain === 'INVALID_CHAIN' || chain === 'chain_ambiguous')
      return yield finding('schema', chain, line, `chain ${shown(fields['chain'] ?? '')}`, { field: 'chain' });
    const { derivation } = factsOf(chain);
    const key = parseXpub(fields['xpub'] ?? ''),
      path = normalPath(fields['path'] ?? '');
    if (derivation.kind !== 'xpub' || isRefusal(key))
      return yield finding('schema', 'INVALID_INPUT', line, 'no extended key of this chain', { field: 'xpub' });
    const steps = path?.split('/').slice(1) ?? [],
      last = steps.at(-1) ?? '0';
    const step = Number(last.replace("'", '')) + (last.endsWith("'") ? HARDENED : 0);
    if (path === null || steps.length !== key.depth || (key.depth > 0 && step !== key.index))
      return yield finding('schema', 'INVALID_INPUT', line, "the path is not the key's own", { field: 'path' });
    const branch = fields['branch'] ?? '0',
      script = fields['script'] ?? null;
    if ((branch !== '0' && branch !== '1') || (script !== null && script !== 'p2wpkh'))
      return yield finding('schema', 'INVALID_INPUT', line, 'branch 0 or 1; script p2wpkh', { field: 'branch' });
    const range = rangeOf(fields['range'] ?? '');
    if (range === null)
      return yield finding('schema', 'bad_range', line, 'expected a-b, at most a million', { field: 'range' });
    for (let index = range.first; index <= range.last; index += 1) {
      const at = derivation.deriveAddress(networkOf(chain), key.xpub, Number(branch) as 0 | 1, index);
      const claim = { xpub: key.xpub, path: `${path}/${branch}/${index}` };
      yield* this.#address(line, { chain, text: at.address }, claim, tagged(fields['tag']));
    }
  }

  *#descriptor({ line, descriptor, range, firstAddress }: Extract<Entry, { kind: 'descriptor' }>): Generator<Judged> {
    const addressAt = (index: number): string[] =>
      descriptor.scriptsAt(0, index).flatMap((script) => {
        const output = outputOf(script);
        return output === null ? [] : [addressOf(bitcoin.prefixes, output)];
      });
    if (firstAddress !== null && !addressAt(range.first).includes(firstAddress))
      return yield finding('derivation', 'path_mismatch', line, 'the first address is another one');
    const last = descriptor.ranged ? range.last : range.first;
    for (let index = range.first; index <= last; index += 1) {
      const found = addressAt(index);
      if (found.length === 0) return yield finding('schema', 'missing_address', line, 'this script has no address');
      for (const text of found) yield* this.#address(line, { chain: 'btc', text }, { xpub: null, path: null }, {});
    }
  }
}

const tagged = (tag: string | undefined): Fields => (tag === undefined ? {} : { tag });
const invalid = (line: number, reason: string): Finding =>
  finding('chain_format', 'INVALID_ADDRESS', line, reason, { field: 'address' });

function parsed(chain: Chain, text: string): ParsedAddress | null {
  const read = factsOf(chain).parseAddress(networkOf(chain), text);
  if (!isRefusal(read)) return read;
  const canonical = read.details['canonical'];
  return typeof canonical === 'string' ? parsed(chain, canonical) : null;
}

function texts(line: number, fields: Fields): Finding | null {
  const long = (
    [
      ['userRef', USER_REF_CHARS_MAX],
      ['tag', TAG_CHARS_MAX],
      ['label', LABEL_CHARS_MAX],
    ] as const
  ).find(([field, most]) => (fields[field]?.length ?? 0) > most);
  if (long !== undefined)
    return finding('schema', 'user_ref_length', line, `longer than ${long[1]} characters`, { field: long[0] });
  if (/^\d(?:[.,]\d+)?E\+\d+$/i.test((fields.userRef ?? '').trim()))
    return finding('schema', 'user_ref_rounded', line, 'a spreadsheet has rounded it', { field: 'userRef' });
  if (
    fields.index !== undefined &&
    fields.index !== '' &&
    !(Number(fields.index) < HARDENED && /^\d+$/.test(fields.index))
  )
    return finding('schema', 'bad_index', line, `no index: ${shown(fields.index)}`, { field: 'index' });
  return null;
}

/** `m/44'/60'/0'/0/5`, with `h` and `H` as apostrophes; null for what is no path. */
function normalPath(text: string): string | null {
  const path = text.trim().replace(/^M/, 'm').replace(/[hH]/g, "'");
  return /^m(?:\/[0-9]{1,10}'?){0,10}$/.test(path) ? path : null;
}

function rangeOf(text: string): { first: number; last: number } | null {
  const [, from, to] = /^\s*(\d{1,10})(?:\s*-\s*(\d{1,10}))?\s*$/.exec(text) ?? [];
  if (from === undefined) return null;
  const first = Number(from),
    last = Number(to ?? from);
  return last >= first && last < HARDENED && last - first < RANGE_MAX ? { first, last } : null;
}
