/**
 * Output descriptors: text → the scripts and addresses of an account.
 *
 *   pk pkh combo      anywhere outside but combo at the top     wpkh      top or sh      sh      top
 *   multi sortedmulti top (3 keys), sh (15), wsh (20)           wsh       top or sh      tr      top
 *   multi_a sortedmulti_a  leaves of tr                         addr raw  top
 *
 * The checksum is required: without one an import could not detect a typing error. A private key is refused.
 * Source: BIP-380 to BIP-387, BIP-389.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { isRefusal, Refused, type Refusal } from '../../protocol/errors.ts';
import { parseAddress } from './address.ts';
import { taprootKey } from './derive.ts';
import { CHECKSUM_CHARACTERS, descriptorChecksum } from './descriptor-checksum.ts';
import { invalidDescriptor, looksPrivate, parseDescriptorKey, type DescriptorKey } from './descriptor-key.ts';
import { branchHash, keyScript, leafHash, multiAScript, multiScript, sortedKeys } from './descriptor-script.ts';
import type { BtcNetwork } from './network.ts';
import { addressOf, hash160, outputOf, scriptOf } from './script.ts';

/** Twenty extended keys with origins take about 4,000 characters. */
const DESCRIPTOR_CHARACTERS_MAX = 20_000;
/** A longer push is invalid, so that a longer redeem script could not be spent. Source: BIP-16. */
const REDEEM_SCRIPT_BYTES_MAX = 520;
const TREE_DEPTH_MAX = 128; // BIP-341
const MULTI_A_KEYS_MAX = 999; // BIP-387

type Context = 'top' | 'sh' | 'wsh' | 'leaf';
type Script = (branch: number, index: number) => Uint8Array;

export interface Descriptor {
  readonly ok: true;
  /** One script per index; otherwise the same for every index. */
  readonly ranged: boolean;
  /** Alternatives of a multipath descriptor, in their order; 1 without one. */
  readonly branches: number;
  /** The scripts at an index of a branch; several for `combo`. */
  scriptsAt(branch: number, index: number): readonly Uint8Array[];
}

/** Refuses: INVALID_INPUT with the reason; nothing of the text is repeated. */
export function parseDescriptor(network: BtcNetwork, text: string): Descriptor | Refusal {
  try {
    if (text.length > DESCRIPTOR_CHARACTERS_MAX) invalidDescriptor('too long');
    if (/[a-zA-Z]prv/.test(text) || text.split(/[(),[\]/{}#]/).some(looksPrivate)) {
      invalidDescriptor('holds a private key');
    }
    const hash = text.lastIndexOf('#');
    if (hash === -1) invalidDescriptor('no checksum');
    const body = text.slice(0, hash),
      checksum = text.slice(hash + 1);
    if (checksum.length !== CHECKSUM_CHARACTERS) invalidDescriptor('length of the checksum');
    const expected = descriptorChecksum(body);
    if (expected === null) invalidDescriptor('a character outside the alphabet of descriptors');
    if (checksum !== expected) invalidDescriptor('checksum');
    return new Reader(network, body).read();
  } catch (fault) {
    if (fault instanceof Refused) return fault.refusal;
    throw fault;
  }
}

/**
 * Address texts of a descriptor, branch after branch, `count` of each from index `from`; one of each when it is not
 * ranged. Scripts without an address give none. Throws: RangeError for an index that is hardened.
 */
export function addressesOf(network: BtcNetwork, descriptor: Descriptor, from: number, count: number): string[] {
  const indexes = descriptor.ranged ? Array.from({ length: count }, (_, offset) => from + offset) : [0];
  return Array.from({ length: descriptor.branches }, (_, branch) => branch).flatMap((branch) =>
    indexes
      .flatMap((index) => descriptor.scriptsAt(branch, index))
      .flatMap((script) => {
        const output = outputOf(script);
        return output === null ? [] : [addressOf(network.prefixes, output)];
      }),
  );
}

/** Reads one descriptor from left to right, keeping the keys that it met. */
class Reader {
  readonly #network: BtcNetwork;
  readonly #text: string;
  readonly #keys: DescriptorKey[] = [];
  #at = 0;

  constructor(network: BtcNetwork, text: string) {
    this.#network = network;
    this.#text = text;
  }

  read(): Descriptor {
    const scriptsAt = this.#top();
    if (this.#at !== this.#text.length) invalidDescriptor('text after the end');
    const lengths = new Set(this.#keys.map((key) => key.branches).filter((branches) => branches > 1));
    if (lengths.size > 1) invalidDescriptor('multipath steps of different lengths');
    return { ok: true, ranged: this.#keys.some((key) => key.ranged), branches: [...lengths][0] ?? 1, scriptsAt };
  }

  #top(): (branch: number, index: number) => readonly Uint8Array[] {
    if (this.#takes('combo(')) return this.#combo();
    const script = this.#takes('tr(')
      ? this.#taproot()
      : this.#takes('addr(')
        ? this.#address()
        : this.#takes('raw(')
          ? this.#raw()
          : this.#script('top');
    return (branch, index) => [script(branch, index)];
  }

  /** A script expression that may stand in the context; the tr-only and top-only ones are read elsewhere. */
  #script(context: Context): Script {
    const name =
      /^[a-z_]+(?=\()/.exec(this.#text.slice(this.#at, this.#at + 20))?.[0] ??
      invalidDescriptor('expected an expression');
    this.#at += name.length + 1;
    const allowed: Readonly<Record<string, readonly Context[]>> = {
      pk: ['top', 'sh', 'wsh', 'leaf'],
      pkh: ['top', 'sh', 'wsh'],
      wpkh: ['top', 'sh'],
      sh: ['top'],
      wsh: ['top', 'sh'],
      multi: ['top', 'sh', 'wsh'],
      sortedmulti: ['top', 'sh', 'wsh'],
      multi_a: ['leaf'],
      sortedmulti_a: ['leaf'],
    };
    if (!Object.hasOwn(allowed, name)) invalidDescriptor('an expression that is not understood');
    if (!allowed[name]!.includes(context)) invalidDescriptor(`${name}() is not allowed here`);
    if (name.includes('multi')) return this.#multi(name.startsWith('sorted'), context);
    if (name === 'sh' || name === 'wsh') return this.#hashed(name);
    const key = this.#key(context === 'leaf' ? 'x-only' : context === 'wsh' || name === 'wpkh' ? 'compressed' : 'any');
    this.#take(')');
    if (name === 'pk') return (branch, index) => keyScript(key(branch, index));
    const kind = name === 'pkh' ? 'p2pkh' : 'p2wpkh';
    return (branch, index) => scriptOf({ kind, program: hash160(key(branch, index)) });
  }

  #hashed(name: 'sh' | 'wsh'): Script {
    const inner = this.#script(name);
    this.#take(')');
    if (name === 'sh' && inner(0, 0).length > REDEEM_SCRIPT_BYTES_MAX) {
      invalidDescriptor('redeem script above 520 bytes');
    }
    return name === 'sh'
      ? (branch, index) => scriptOf({ kind: 'p2sh', program: hash160(inner(branch, index)) })
      : (branch, index) => scriptOf({ kind: 'p2wsh', program: sha256(inner(branch, index)) });
  }

  #multi(sorted: boolean, context: Context): Script {
    const digits =
      /^[1-9][0-9]{0,2}(?=,)/.exec(this.#text.slice(this.#at, this.#at + 4))?.[0] ?? invalidDescriptor('threshold');
    this.#at += digits.length;
    const threshold = Number(digits);
    const most = { top: 3, sh: 15, wsh: 20, leaf: MULTI_A_KEYS_MAX }[context];
    const keys: Script[] = [];
    const form = context === 'leaf' ? 'x-only' : context === 'wsh' ? 'compressed' : 'any';
    while (this.#takes(',')) keys.push(this.#key(form));
    this.#take(')');
    if (threshold > keys.length) invalidDescriptor('threshold above the number of keys');
    if (keys.length > most) invalidDescriptor(`more than ${most} keys`);
    return (branch, index) => {
      const bytes = keys.map((key) => key(branch, index));
      const ordered = sorted ? sortedKeys(bytes) : bytes;
      return context === 'leaf' ? multiAScript(threshold, ordered) : multiScript(threshold, ordered);
    };
  }

  #combo(): (branch: number, index: number) => readonly Uint8Array[] {
    const key = this.#key('any');
    this.#take(')');
    return (branch, index) => {
      const bytes = key(branch, index);
      const program = hash160(bytes);
      const plain = [keyScript(bytes), scriptOf({ kind: 'p2pkh', program })];
      if (bytes.length !== 33) return plain;
      const witness = scriptOf({ kind: 'p2wpkh', program });
      return [...plain, witness, scriptOf({ kind: 'p2sh', program: hash160(witness) })];
    };
  }

  #taproot(): Script {
    const internal = this.#key('x-only');
    const root = this.#takes(',') ? this.#tree(0) : () => new Uint8Array();
    this.#take(')');
    return (branch, index) =>
      scriptOf({ kind: 'p2tr', program: taprootKey(internal(branch, index), root(branch, index)) });
  }

  #tree(depth: number): Script {
    if (depth > TREE_DEPTH_MAX) invalidDescriptor('tree too deep');
    if (!this.#takes('{')) {
      const leaf = this.#script('leaf');
      return (branch, index) => leafHash(leaf(branch, index));
    }
    const left = this.#tree(depth + 1);
    this.#take(',');
    const right = this.#tree(depth + 1);
    this.#take('}');
    return (branch, index) => branchHash(left(branch, index), right(branch, index));
  }

  #address(): Script {
    const parsed = parseAddress(this.#network, this.#argument());
    if (isRefusal(parsed)) return invalidDescriptor('address');
    this.#take(')');
    return () => parsed.bytes;
  }

  #raw(): Script {
    const hex = this.#argument();
    if (!/^(?:[0-9a-fA-F]{2})+$/.test(hex)) invalidDescriptor('raw script that is no hex');
    this.#take(')');
    return () => Uint8Array.from(Buffer.from(hex, 'hex'));
  }

  /** A key of one of the forms that the place allows; inside tr compressed keys lose their first byte. */
  #key(form: 'any' | 'compressed' | 'x-only'): Script {
    const key = parseDescriptorKey(this.#argument());
    this.#keys.push(key);
    if (form !== 'any' && key.form === 'uncompressed') invalidDescriptor('an uncompressed key is not allowed here');
    if (form !== 'x-only' && key.form === 'x-only') invalidDescriptor('a 32-byte key is allowed inside tr() only');
    return form === 'x-only'
      ? (branch, index) => key.keyAt(branch, index).subarray(-32)
      : (branch, index) => key.keyAt(branch, index);
  }

  /** Text up to the next comma, parenthesis or brace. */
  #argument(): string {
    const text = /^[^(),{}]*/.exec(this.#text.slice(this.#at))![0];
    this.#at += text.length;
    return text;
  }

  #takes(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  #take(token: string): void {
    if (!this.#takes(token)) invalidDescriptor(`expected ${token}`);
  }
}
