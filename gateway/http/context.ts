/** Who asks, as the checks before a handler found it. */
import { notFound, Refused, refuse, type Refusal } from '../../protocol/errors.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { Environment, OrgRole } from '../../protocol/slugs.ts';
import type { FirstAnswer, KeyRole } from '../../model/ports/identity-store.ts';
import type { AuditNote, AuditRecord } from '../../model/rows/audit.ts';
import type { IdempotencyClaim } from '../../model/account/capabilities.ts';
import type { BodyOf, OperationId, ParamsOf, QueryOf, ReplyOf } from '../../protocol/routes.ts';
import type { Scrape } from '../../protocol/node/metrics-access.ts';
import type { DuplicateKey } from '../../model/ports/accounts.ts';
import type { Outgrown } from './idempotency.ts';
import type { SsoKind } from '../../model/ports/sso-store.ts';

/** A signed-in user of the console. */
export interface Bearer {
  readonly userId: string;
  /** The signed-in browser; null for tokens of an outside issuer. */
  readonly loginId: string | null;
  readonly organizationId: string | null;
  readonly role: OrgRole | null;
  readonly platformAdmin: boolean;
  readonly authAtMs: number;
  /** When a second factor was last accepted; null when never in this session. */
  readonly totpAtMs: number | null;
  /** Of a login by single sign-on: the organization that it is for; absent where it is for all of the person's. */
  readonly onlyOrganizationId?: string;
  /** The kind of provider that the token's organization lets the person in by alone; this login came otherwise. */
  readonly ssoRequired?: SsoKind;
  /** The support session that staff reads by; absent for everybody else. Console A45. */
  readonly support?: { readonly id: string; readonly environment: Environment };
}

export interface Caller {
  /** Null on paths that nobody has to sign in for, and for users without an organization. */
  readonly accountId: AccountId | null;
  readonly environment: Environment;
  readonly apiKeyId: string | null;
  /** Of the API key; absent for one of an editor. */
  readonly keyRole?: KeyRole;
  readonly bearer: Bearer | null;
  /** Key and body digest of a verified edge signature. */
  readonly signature: { readonly publicKey: string; readonly contentDigest: string } | null;
}

export const NOBODY: Caller = { accountId: null, environment: 'live', apiKeyId: null, bearer: null, signature: null };

/** A request that passed every check. */
export interface Asked<O extends OperationId = OperationId> {
  readonly params: ParamsOf<O>;
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
  readonly caller: Caller;
  /** To be handed to the account's command, where the route keeps its key with the effect. */
  readonly claim: IdempotencyClaim | undefined;
  /** The stored form of a reply, to be written in the effect's statement where the route keeps its key so. */
  answerOf(reply: ReplyOf<O>): FirstAnswer | undefined;
  /** The entry of the audit log that the request's effect writes; null where none is written. */
  readonly note: AuditNote | null;
  readonly requestId: string;
  readonly cookies: Readonly<Record<string, string>>;
  /** Of the peer, or what trusted proxies say of it: to count by, never to let somebody in by. */
  readonly clientAddress: string;
  /** Who asks to read the metrics: the peer itself, whatever proxies say. */
  readonly scrape: Scrape;
  /** What the caller's program says of itself, printable and short; empty where it says nothing. */
  readonly client: string;
  /** Of the page that asks; absent outside of browsers. */
  readonly origin: string | undefined;
  /** The name that was asked under. */
  readonly host: string;
  /** Of a stream that broke off: the last id that the caller had. */
  readonly lastEventId: string | undefined;
  /** Whether the same credential would be taken now, asked of the database. */
  stillGood(): Promise<boolean>;
  setHeader(name: string, value: string): void;
  /** What is asked for was there already: answered with the route's status `again`. */
  wasThere(): void;
}

/** Nothing was written: the key has an answer. */
export const USED_KEY: DuplicateKey = { ok: 'duplicate' };

/** What a handler answers: the reply's data, an expected no, or "this key was used before". */
export type Handled<O extends OperationId> = Promise<ReplyOf<O> | Refusal | DuplicateKey>;
export type Handle<O extends OperationId> = (asked: Asked<O>) => Handled<O>;

/** A route whose key is stored with the account's effect: `replay` makes the same data of the stored reply. */
export interface Replayable<O extends OperationId> {
  readonly handle: Handle<O>;
  readonly replay: (stored: unknown, asked: Asked<O>) => Promise<ReplyOf<O> | Outgrown>;
}
export type Handlers = { readonly [O in OperationId]?: Handle<O> | Replayable<O> };

/** The account that is asked about. Throws: Refused FORBIDDEN for a user without an organization. */
export function accountOf(asked: { readonly caller: Caller }): AccountId {
  const { accountId } = asked.caller;
  if (accountId === null) throw new Refused(refuse('FORBIDDEN', { reason: 'the token names no organization' }));
  return accountId;
}

/**
 * The refusal of an id that the account does not have; that another account, or its other environment, has it is not
 * said.
 */
export function unknownIn(asked: { readonly caller: Caller }, what: string, id: string): Refusal {
  const { environment } = asked.caller;
  return notFound(what, id, {
    environment,
    next: 'compare the id and the environment of the key: live and sandbox have ids of their own',
  });
}

/** The signed-in user. Throws: Refused UNAUTHORIZED. */
export function bearerOf(asked: { readonly caller: Caller }): Bearer {
  const { bearer } = asked.caller;
  if (bearer === null) throw new Refused(refuse('UNAUTHORIZED'));
  return bearer;
}

/** Claim and note as fields of a command, absent where there are none. */
export function claimOf(asked: { readonly claim: IdempotencyClaim | undefined; readonly note: AuditNote | null }): {
  idempotency?: IdempotencyClaim;
  audit?: AuditNote;
} {
  return {
    ...(asked.claim === undefined ? {} : { idempotency: asked.claim }),
    ...(asked.note === null ? {} : { audit: asked.note }),
  };
}

/** The note as a record of the organization that the caller works in; absent where there is none. */
export function recordOf(
  asked: Pick<Asked, 'note' | 'caller'>,
  more: Partial<AuditNote> = {},
): AuditRecord | undefined {
  const organizationId = asked.caller.bearer?.organizationId ?? null;
  return asked.note === null || organizationId === null ? undefined : { ...asked.note, ...more, organizationId };
}
