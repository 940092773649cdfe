/**
 * An open keystore: its sources, and the way to borrow a secret for one call. Only the data key stays in memory; each
 * secret is unsealed when it is used and zero afterwards. Another process may change the file meanwhile (the command
 * line, beside a running edge); `refresh` reads it again.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { KeystoreError } from './keystore-error.ts';
import type { KeyWrap } from './key-wrap.ts';
import {
  alone,
  decodeFile,
  encodeFile,
  fileMark,
  newHeader,
  openBody,
  readBytes,
  replaceFile,
  type SealedFile,
} from './sealed-file.ts';
import { KEY_BYTES, seal, subkey, unseal } from './sealing.ts';
import { keystoreContent, type SourceRecord } from './source-record.ts';

export type NewSource = Omit<
  SourceRecord,
  'secret' | 'purgedAt' | 'purgeTold' | 'sourceId' | 'environment' | 'addresses'
>;

/** Migration M-K6. The file is read and written whole, some 600 bytes for each. */
export const SOURCES_MAX = 10_000;

export class KeyFile {
  readonly #path: string;
  readonly #dataKey: Buffer;
  #header: Pick<SealedFile, 'id' | 'header'>;
  #sources: SourceRecord[];
  #mark: string | null;

  private constructor(
    path: string,
    dataKey: Buffer,
    header: Pick<SealedFile, 'id' | 'header'>,
    sources: SourceRecord[],
    mark: string | null,
  ) {
    this.#path = path;
    this.#dataKey = dataKey;
    this.#header = header;
    this.#sources = sources;
    this.#mark = mark;
  }

  /** A new, empty keystore; nothing is written before its first source. Throws: KeystoreError. */
  static async create(path: string, wrap: KeyWrap): Promise<KeyFile> {
    const dataKey = randomBytes(KEY_BYTES);
    return new KeyFile(path, dataKey, newHeader(await wrap.wrap(dataKey)), [], fileMark(path));
  }

  /** Opens a keystore. Throws: KeystoreError. */
  static async open(path: string, wrap: KeyWrap): Promise<KeyFile> {
    const mark = fileMark(path); // before the bytes: a change in between is then seen
    const file = decodeFile(readBytes(path));
    const dataKey = await wrap.unwrap(file.wrapped);
    try {
      return new KeyFile(path, dataKey, file, contentOf(file, dataKey), mark);
    } catch (error) {
      dataKey.fill(0);
      throw error;
    }
  }

  /** Every source, the oldest first, purged ones too. */
  get sources(): readonly SourceRecord[] {
    return this.#sources;
  }

  find(fingerprint: string): SourceRecord | null {
    return this.#sources.find((source) => source.fingerprint === fingerprint) ?? null;
  }

  /** Reads the file again when it is another one than was read last. Throws: KeystoreError, also when it is gone. */
  refresh(): void {
    const mark = fileMark(this.#path);
    if (mark === this.#mark) return;
    if (mark === null) throw new KeystoreError('KEYSTORE_MISSING');
    try {
      const file = decodeFile(readBytes(this.#path));
      this.#sources = contentOf(file, this.#dataKey);
      this.#header = file;
      this.#mark = mark;
    } catch (error) {
      // Replaced between opening and reading, the old bytes are overwritten meanwhile: the new ones are under the name.
      if (fileMark(this.#path) === mark) throw error;
      this.refresh();
    }
  }

  /**
   * Adds a source; the secret is sealed and stays the caller's to zero. Throws: KeystoreError SOURCE_KNOWN,
   * SOURCE_PURGED, SOURCES_FULL.
   */
  async add(source: NewSource, secret: Buffer): Promise<SourceRecord> {
    const [added] = await this.#addNew([{ source, secret }], (known) => {
      throw new KeystoreError(known.purgedAt === null ? 'SOURCE_KNOWN' : 'SOURCE_PURGED');
    });
    return added!;
  }

  /**
   * Adds those that it does not have, in one change of the file; of the others nothing changes. The secrets stay the
   * caller's to zero. Throws: KeystoreError SOURCE_PURGED, SOURCES_FULL; nothing was added then.
   */
  addAll(all: readonly { readonly source: NewSource; readonly secret: Buffer }[]): Promise<SourceRecord[]> {
    return this.#addNew(all, ({ purgedAt, fingerprint }) => {
      if (purgedAt !== null) throw new KeystoreError('SOURCE_PURGED', fingerprint);
    });
  }

  #addNew(
    all: readonly { readonly source: NewSource; readonly secret: Buffer }[],
    onKnown: (known: SourceRecord) => void,
  ): Promise<SourceRecord[]> {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    return this.#change((sources) => {
      const byFingerprint = new Map(sources.map((source) => [source.fingerprint, source])),
        added: SourceRecord[] = [];
      for (const { source, secret } of all) {
        const known = byFingerprint.get(source.fingerprint);
        if (known !== undefined) {
          onKnown(known);
          continue;
        }
        if (source.own && sources.some(({ own, purgedAt }) => own && purgedAt === null))
          throw new KeystoreError('SOURCE_KNOWN', 'an own phrase');
        const one: SourceRecord = {
          ...source,
          addresses: [],
          environment: null,
          sourceId: null,
          purgeTold: false,
          purgedAt: null,
          secret: sealSecret(this.#dataKey, source, secret),
        };
        byFingerprint.set(one.fingerprint, one);
        added.push(one);
      }
      if (added.length > 0 && sources.length + added.length > SOURCES_MAX) throw new KeystoreError('SOURCES_FULL');
      return { sources: [...sources, ...added], result: added };
    });
  }

  /** Changes what is public of a source. Throws: KeystoreError SOURCE_UNKNOWN. */
  note(
    fingerprint: string,
    change: Partial<Pick<SourceRecord, 'keys' | 'addresses' | 'branches' | 'environment' | 'sourceId' | 'purgeTold'>>,
  ): Promise<SourceRecord> {
    return this.#changeOne(fingerprint, (source) => ({ ...source, ...change }));
  }

  /** Destroys the secret and keeps the record. Throws: KeystoreError SOURCE_UNKNOWN. */
  purge(fingerprint: string, atMs: number): Promise<SourceRecord> {
    return this.#changeOne(fingerprint, (source) =>
      source.purgedAt === null ? { ...source, secret: null, purgedAt: new Date(atMs).toISOString() } : source,
    );
  }

  /**
   * Another passphrase, or a token: a new data key, under which every secret is sealed anew. The old passphrase opens
   * old copies of the file, and nothing that is written from now on. Throws: KeystoreError.
   */
  async rewrap(wrap: KeyWrap): Promise<void> {
    const dataKey = randomBytes(KEY_BYTES);
    const header = newHeader(await wrap.wrap(dataKey));
    await alone(this.#path, async () => {
      this.refresh();
      const sources = this.#sources.map((source) =>
        source.secret === null
          ? source
          : { ...source, secret: this.withSecret(source.fingerprint, (secret) => sealSecret(dataKey, source, secret)) },
      );
      replaceFile(this.#path, encodeFile(header.header, dataKey, Buffer.from(JSON.stringify({ sources }))));
      this.#dataKey.set(dataKey);
      this.#header = header;
      this.#sources = sources;
      this.#mark = fileMark(this.#path);
    });
    dataKey.fill(0);
  }

  /**
   * Lends the seed or private key for one call. Throws: KeystoreError SOURCE_UNKNOWN, SOURCE_PURGED, KEYSTORE_DAMAGED.
   */
  withSecret<T>(fingerprint: string, use: (secret: Buffer) => T): T {
    const source = this.find(fingerprint);
    if (source === null) throw new KeystoreError('SOURCE_UNKNOWN');
    if (source.secret === null) throw new KeystoreError('SOURCE_PURGED');
    const key = subkey(this.#dataKey, 'secret');
    const secret = unseal(key, Buffer.from(source.secret, 'base64'), contextOf(source));
    key.fill(0);
    if (secret === null) throw new KeystoreError('KEYSTORE_DAMAGED');
    try {
      return use(secret);
    } finally {
      secret.fill(0);
    }
  }

  /** Forgets the data key. Nothing can be borrowed afterwards. */
  close(): void {
    this.#dataKey.fill(0);
    this.#sources = [];
  }

  #changeOne(fingerprint: string, change: (source: SourceRecord) => SourceRecord): Promise<SourceRecord> {
    return this.#change((sources) => {
      const at = sources.findIndex((source) => source.fingerprint === fingerprint);
      if (at === -1) throw new KeystoreError('SOURCE_UNKNOWN');
      const result = change(sources[at]!);
      return { sources: sources.with(at, result), result };
    });
  }

  /** One change at a time, over what the file holds now, on the disk when it returns. */
  #change<T>(change: (sources: readonly SourceRecord[]) => { sources: SourceRecord[]; result: T }): Promise<T> {
    return alone(this.#path, async () => {
      this.refresh();
      const { sources, result } = change(this.#sources);
      const plain = Buffer.from(JSON.stringify({ sources }));
      replaceFile(this.#path, encodeFile(this.#header.header, this.#dataKey, plain));
      this.#sources = sources;
      this.#mark = fileMark(this.#path);
      return result;
    });
  }
}

function sealSecret(dataKey: Buffer, source: Pick<SourceRecord, 'fingerprint' | 'kind'>, secret: Buffer): string {
  const key = subkey(dataKey, 'secret');
  try {
    return seal(key, secret, contextOf(source)).toString('base64');
  } finally {
    key.fill(0);
  }
}

function contextOf({ fingerprint, kind }: Pick<SourceRecord, 'fingerprint' | 'kind'>): Buffer {
  return Buffer.from(`flock-keystore secret ${kind} ${fingerprint}`);
}

function contentOf(file: SealedFile, dataKey: Buffer): SourceRecord[] {
  const plain = openBody(file, dataKey);
  const parsed = keystoreContent.safeParse(JSON.parse(plain.toString('utf8')));
  if (!parsed.success) throw new KeystoreError('KEYSTORE_UNSUPPORTED', 'content');
  return parsed.data.sources;
}
