/** Who asks, as the audit log notes it. Console U1, U2. */
import type { AuditAction, AuditNote } from '../../model/rows/audit.ts';
import type { Route, Tag } from '../../protocol/route.ts';
import type { OperationId } from '../../protocol/routes.ts';
import type { Caller } from './context.ts';

/** What keys and edges do there is no control plane's: the account's event stream has it. */
const DATA_PLANE: ReadonlySet<Tag> = new Set(['Addresses', 'Balances', 'Transactions', 'Sandbox', 'Chains', 'Health']);
/** What an edge does to the control plane; the rest of its signed calls is traffic. */
const OF_EDGES: ReadonlySet<OperationId> = new Set(['syncEdge', 'registerKeySource', 'purgeKeySource']);

/** What a request shows of who sends it. */
export interface Asking {
  readonly caller: Caller;
  readonly requestId: string;
  readonly client: string;
  readonly clientAddress: string;
}

/**
 * The note of a request that is done: each write by a person, and each write of the control plane by a key or an edge.
 * Null for what is not recorded.
 */
export function noteOf(
  route: Pick<Route, 'method' | 'tag' | 'credential'> & { readonly operationId: OperationId },
  asking: Asking,
  target: string | null = null,
): AuditNote | null {
  const { caller } = asking;
  if (route.method === 'GET') return null;
  if (route.credential === 'signed' && !OF_EDGES.has(route.operationId)) return null;
  if (caller.bearer === null && (caller.apiKeyId === null || DATA_PLANE.has(route.tag))) return null;
  const note = noteBy(asking, route.operationId, { target });
  return route.credential === 'admin' ? { ...note, actor: { ...note.actor, kind: 'admin' } } : note;
}

/** A note of a caller, whatever it did. */
export function noteBy(
  { caller: { bearer, apiKeyId, signature }, requestId, client, clientAddress }: Asking,
  action: AuditAction,
  more: Partial<Pick<AuditNote, 'target' | 'outcome' | 'reason' | 'changes'>> = {},
): AuditNote {
  return {
    actor:
      bearer !== null
        ? { kind: bearer.support === undefined ? 'user' : 'admin', id: bearer.userId }
        : { kind: signature === null ? 'key' : 'edge', id: apiKeyId },
    via: bearer !== null ? 'console' : signature === null ? 'api_key' : 'edge',
    action,
    target: null,
    outcome: 'done',
    changes: null,
    ip: clientAddress,
    client,
    requestId,
    ...more,
  };
}

/** A note of what a user does about themselves, signed in or not: its actor is the user that the store knows. */
export function ofUser(asking: Asking, action: AuditAction, more: Parameters<typeof noteBy>[2] = {}): AuditNote {
  return { ...noteBy(asking, action, more), actor: { kind: 'user', id: null }, via: 'console' };
}
