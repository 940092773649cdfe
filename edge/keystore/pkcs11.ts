/**
 * The few calls of PKCS#11 that wrap one key, through the C interface of a vendor's module. The module is loaded when
 * a keystore is opened by a token and finalised right after; nothing of it stays in the process that signs.
 * Source: OASIS PKCS #11 v2.40, base specification (function list, attributes) and §2.14 (AES key wrap).
 */
import type koffi from 'koffi';
import { KeystoreError } from './keystore-error.ts';

export interface TokenSettings {
  /** Path of the module, a shared library. */
  readonly module: string;
  /** Label of the token. */
  readonly token: string;
  /** Label of the AES key in it. */
  readonly key: string;
}

/** An open, logged-in session. Handles are numbers of the module. */
export interface TokenSession {
  /** The AES key of that label; null when the token has none. */
  findKey(label: string): bigint | null;
  /** A 256-bit AES key that never leaves the token and only wraps. */
  generateKey(label: string): bigint;
  /** 32 bytes, as the token wraps them. */
  wrap(wrappingKey: bigint, bytes: Buffer): Buffer;
  /** The bytes again; null when the token refuses them. The caller zeroes them. */
  unwrap(wrappingKey: bigint, wrapped: Buffer): Buffer | null;
}

/** Places in CK_FUNCTION_LIST, after the version. */
const PLACES = {
  C_Initialize: 0,
  C_Finalize: 1,
  C_GetSlotList: 4,
  C_GetTokenInfo: 6,
  C_OpenSession: 12,
  C_CloseSession: 13,
  C_Login: 18,
  C_Logout: 19,
  C_CreateObject: 20,
  C_DestroyObject: 22,
  C_GetAttributeValue: 24,
  C_FindObjectsInit: 26,
  C_FindObjects: 27,
  C_FindObjectsFinal: 28,
  C_GenerateKey: 58,
  C_WrapKey: 60,
  C_UnwrapKey: 61,
} as const;
type Name = keyof typeof PLACES;

const CKR = {
  0x0: 'OK',
  0xa0: 'PIN_INCORRECT',
  0xa1: 'PIN_INVALID',
  0xa2: 'PIN_LEN_RANGE',
  0xa4: 'PIN_LOCKED',
  0x191: 'CRYPTOKI_ALREADY_INITIALIZED',
} as Record<number, string>;
const PIN_REFUSALS = new Set([0xa0, 0xa1, 0xa2, 0xa4]);
const ALREADY_INITIALIZED = 0x191;
const USER = 1,
  SERIAL_AND_WRITE = 0x4 | 0x2;
const CKM = { aesKeyGen: 0x1080, aesKeyWrap: 0x2109 } as const;
const CKA = {
  class: 0x0,
  token: 0x1,
  private: 0x2,
  label: 0x3,
  value: 0x11,
  keyType: 0x100,
  sensitive: 0x103,
  encrypt: 0x104,
  decrypt: 0x105,
  wrap: 0x106,
  unwrap: 0x107,
  valueLen: 0x161,
  extractable: 0x162,
} as const;
const SECRET_KEY = 4,
  AES = 0x1f;
const KEY_BYTES = 32;
const WORD_BYTES = 8; // CK_ULONG and pointers of the 64-bit systems that this runs on
const LABEL_BYTES = 32;
const SLOTS_MAX = 64;
/** Longer than CK_TOKEN_INFO. */
const TOKEN_INFO_BYTES = 512;

const ulong = (value: number | bigint): Buffer => {
  const bytes = Buffer.alloc(WORD_BYTES);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const yes = Buffer.from([1]),
  no = Buffer.from([0]);
type Attribute = readonly [type: number, value: Buffer];

/** Runs `use` in a session of the token's user. Throws: KeystoreError MODULE_UNAVAILABLE, KEYSTORE_LOCKED (PIN). */
export async function withToken<T>(
  settings: TokenSettings,
  pin: Buffer,
  use: (session: TokenSession) => T,
): Promise<T> {
  const module = await loadModule(settings.module);
  const initialised = module.call('C_Initialize', null);
  if (initialised !== 0 && initialised !== ALREADY_INITIALIZED) throw unavailable('C_Initialize', initialised);
  try {
    const session = openSession(module, slotOf(module, settings.token));
    try {
      const login = module.call('C_Login', session, USER, pin, pin.length);
      if (PIN_REFUSALS.has(login)) throw new KeystoreError('KEYSTORE_LOCKED', `the token says ${CKR[login]}`);
      if (login !== 0) throw unavailable('C_Login', login);
      return use(sessionOf(module, session));
    } finally {
      module.call('C_Logout', session);
      module.call('C_CloseSession', session);
    }
  } finally {
    module.call('C_Finalize', null);
  }
}

interface Module {
  /** Answers the CK_RV. */
  call(name: Name, ...values: unknown[]): number;
  /** The same, and throws where it is not CKR_OK. */
  must(name: Name, ...values: unknown[]): void;
  attributes(list: readonly Attribute[]): object[];
}

/** Types of the arguments in C, in the notation of the FFI. */
const SIGNATURES: Readonly<Record<Name, readonly string[]>> = {
  C_Initialize: ['void *'],
  C_Finalize: ['void *'],
  C_GetSlotList: ['uint8_t', 'void *', 'void *'],
  C_GetTokenInfo: ['ulong', 'void *'],
  C_OpenSession: ['ulong', 'ulong', 'void *', 'void *', 'void *'],
  C_CloseSession: ['ulong'],
  C_Login: ['ulong', 'ulong', 'void *', 'ulong'],
  C_Logout: ['ulong'],
  C_CreateObject: ['ulong', 'attributes', 'ulong', 'void *'],
  C_DestroyObject: ['ulong', 'ulong'],
  C_GetAttributeValue: ['ulong', 'ulong', 'attributes', 'ulong'],
  C_FindObjectsInit: ['ulong', 'attributes', 'ulong'],
  C_FindObjects: ['ulong', 'void *', 'ulong', 'void *'],
  C_FindObjectsFinal: ['ulong'],
  C_GenerateKey: ['ulong', 'mechanism', 'attributes', 'ulong', 'void *'],
  C_WrapKey: ['ulong', 'mechanism', 'ulong', 'ulong', 'void *', 'void *'],
  C_UnwrapKey: ['ulong', 'mechanism', 'ulong', 'void *', 'ulong', 'attributes', 'ulong', 'void *'],
};

async function loadModule(path: string): Promise<Module> {
  let ffi: typeof koffi;
  let list: unknown[] = [null];
  try {
    ffi = (await import('koffi')).default;
    const found = ffi.load(path).func('C_GetFunctionList', 'ulong', [ffi.out(ffi.pointer('void *'))])(list) as number;
    if (found !== 0) throw new KeystoreError('MODULE_UNAVAILABLE', 'C_GetFunctionList');
  } catch (error) {
    if (error instanceof KeystoreError) throw error;
    throw new KeystoreError('MODULE_UNAVAILABLE', 'EDGE_PKCS11_MODULE is no PKCS#11 module that can be loaded here');
  }
  const word = { type: 'ulong', value: 'void *', length: 'ulong' };
  const types: Record<string, unknown> = {
    attributes: ffi.pointer(ffi.struct(word)),
    mechanism: ffi.pointer(ffi.struct(word)),
  };
  const bound = new Map<Name, (...values: unknown[]) => number>();
  const call: Module['call'] = (name, ...values) => {
    const known = bound.get(name);
    if (known !== undefined) return Number(known(...values));
    const pointer: unknown = ffi.decode(list[0], WORD_BYTES * (1 + PLACES[name]), 'void *');
    const signature = SIGNATURES[name].map((type) => types[type] ?? type);
    const made = ffi.decode(pointer, ffi.proto('ulong', signature as never[])) as (...values: unknown[]) => number;
    bound.set(name, made);
    return Number(made(...values));
  };
  return {
    call,
    must(name, ...values) {
      const code = call(name, ...values);
      if (code !== 0) throw unavailable(name, code);
    },
    attributes: (attributes) => attributes.map(([type, value]) => ({ type, value, length: value.length })),
  };
}

function slotOf(module: Module, label: string): bigint {
  const slots = Buffer.alloc(WORD_BYTES * SLOTS_MAX),
    count = ulong(SLOTS_MAX);
  module.must('C_GetSlotList', 1, slots, count);
  for (let at = 0; at < Number(count.readBigUInt64LE()); at += 1) {
    const slot = slots.readBigUInt64LE(at * WORD_BYTES),
      info = Buffer.alloc(TOKEN_INFO_BYTES);
    if (
      module.call('C_GetTokenInfo', slot, info) === 0 &&
      info.subarray(0, LABEL_BYTES).toString('utf8').trimEnd() === label
    )
      return slot;
  }
  throw new KeystoreError('MODULE_UNAVAILABLE', 'no token has the label of EDGE_PKCS11_TOKEN');
}

function openSession(module: Module, slot: bigint): bigint {
  const session = ulong(0);
  module.must('C_OpenSession', slot, SERIAL_AND_WRITE, null, null, session);
  return session.readBigUInt64LE();
}

function sessionOf(module: Module, session: bigint): TokenSession {
  const mechanism = (type: number) => ({ type, value: null, length: 0 });
  const keyTemplate = (): Attribute[] => [
    [CKA.class, ulong(SECRET_KEY)],
    [CKA.keyType, ulong(AES)],
    [CKA.token, no],
    [CKA.sensitive, no],
    [CKA.extractable, yes],
  ];
  const destroy = (handle: bigint) => module.call('C_DestroyObject', session, handle);
  return {
    findKey(label) {
      const template: Attribute[] = [
        [CKA.class, ulong(SECRET_KEY)],
        [CKA.keyType, ulong(AES)],
        [CKA.label, Buffer.from(label)],
      ];
      const found = ulong(0),
        count = ulong(0);
      module.must('C_FindObjectsInit', session, module.attributes(template), template.length);
      module.must('C_FindObjects', session, found, 1, count);
      module.must('C_FindObjectsFinal', session);
      return count.readBigUInt64LE() === 0n ? null : found.readBigUInt64LE();
    },
    generateKey(label) {
      const template: Attribute[] = [
        [CKA.token, yes],
        [CKA.private, yes],
        [CKA.sensitive, yes],
        [CKA.extractable, no],
        [CKA.wrap, yes],
        [CKA.unwrap, yes],
        [CKA.encrypt, no],
        [CKA.decrypt, no],
        [CKA.label, Buffer.from(label)],
        [CKA.valueLen, ulong(KEY_BYTES)],
      ];
      const made = ulong(0);
      module.must(
        'C_GenerateKey',
        session,
        mechanism(CKM.aesKeyGen),
        module.attributes(template),
        template.length,
        made,
      );
      return made.readBigUInt64LE();
    },
    wrap(wrappingKey, bytes) {
      const template: Attribute[] = [...keyTemplate(), [CKA.value, bytes]];
      const made = ulong(0),
        wrapped = Buffer.alloc(KEY_BYTES * 2),
        length = ulong(wrapped.length);
      module.must('C_CreateObject', session, module.attributes(template), template.length, made);
      const handle = made.readBigUInt64LE();
      try {
        module.must('C_WrapKey', session, mechanism(CKM.aesKeyWrap), wrappingKey, handle, wrapped, length);
      } finally {
        destroy(handle);
      }
      return wrapped.subarray(0, Number(length.readBigUInt64LE()));
    },
    unwrap(wrappingKey, wrapped) {
      const template = keyTemplate(),
        made = ulong(0),
        bytes = Buffer.alloc(KEY_BYTES);
      const code = module.call(
        'C_UnwrapKey',
        session,
        mechanism(CKM.aesKeyWrap),
        wrappingKey,
        wrapped,
        wrapped.length,
        module.attributes(template),
        template.length,
        made,
      );
      if (code !== 0) return null;
      const handle = made.readBigUInt64LE();
      try {
        module.must('C_GetAttributeValue', session, handle, module.attributes([[CKA.value, bytes]]), 1);
      } finally {
        destroy(handle);
      }
      return bytes;
    },
  };
}

function unavailable(name: string, code: number): KeystoreError {
  return new KeystoreError(
    'MODULE_UNAVAILABLE',
    `${name} answered 0x${code.toString(16)}${CKR[code] === undefined ? '' : ` ${CKR[code]}`}`,
  );
}
