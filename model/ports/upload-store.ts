/** Projects of a migration, and files on their way in. Migration M-U1–M-U4, M-O1. */
import type { AccountId } from '../../protocol/ids.ts';
import type { ImportFormat } from '../../protocol/migration/imports.ts';
import type { ProjectState, UploadState } from '../../protocol/migration/words.ts';

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly state: ProjectState;
  readonly createdAtMs: number;
}

export interface Upload {
  readonly id: string;
  readonly accountId: AccountId;
  readonly filename: string;
  readonly declaredBytes: number | null;
  readonly declaredSha256: string | null;
  readonly maxBytes: number;
  /** Signs its URL. */
  readonly urlKey: Buffer;
  readonly state: UploadState;
  /** What was measured of its content; null before there is one. */
  readonly content: UploadContent | null;
  readonly deadlineMs: number;
  readonly createdAtMs: number;
}

export interface UploadContent {
  /** The try that wrote it. */
  readonly stored: number;
  readonly bytes: number;
  readonly sha256: string;
  /** Null for a file that says nothing. */
  readonly format: ImportFormat | null;
}

export type NewUpload = Omit<Upload, 'state' | 'content'>;

export interface UploadStore {
  /** False where the account has `most` projects. */
  createProject(accountId: AccountId, project: Omit<Project, 'state'>, most: number): Promise<boolean>;
  /** Newest first. */
  projects(accountId: AccountId): Promise<Project[]>;
  project(accountId: AccountId, id: string): Promise<Project | null>;
  /** False where the account has `most` uploads that are open and within their deadline. */
  openUpload(upload: NewUpload, most: number): Promise<boolean>;
  /** Of any account: the URL is the credential. */
  upload(id: string): Promise<Upload | null>;
  /** Number of the new try; null where the file takes no content any more. */
  beginContent(id: string): Promise<number | null>;
  /** False where another try began meanwhile. */
  storeChunk(id: string, attempt: number, n: number, bytes: Buffer): Promise<boolean>;
  /** The try becomes the content, and every other one goes. False as above. */
  endContent(id: string, content: UploadContent): Promise<boolean>;
  /** What a try wrote goes. */
  dropContent(id: string, attempt: number): Promise<void>;
  /** A secret was found: all of it goes, and no content is taken any more. */
  rejectUpload(id: string): Promise<void>;
  /** False where it is neither open with content nor complete. */
  completeUpload(id: string): Promise<boolean>;
  /** Chunks of a content behind one, in their order. */
  chunks(id: string, attempt: number, after: number, limit: number): Promise<{ n: number; bytes: Buffer }[]>;
  /** Erases contents of before; answers how many. */
  eraseUploads(beforeMs: number): Promise<number>;
}
