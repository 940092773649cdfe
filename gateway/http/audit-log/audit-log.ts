/** The audit log of an organization: what its owners read, verify and take along. Console U4–U6. */
import { Readable } from 'node:stream';
import type { AuditEntryRow, AuditFilter } from '../../../model/ports/audit-log-store.ts';
import { pageAskOf } from '../../../protocol/cursor.ts';
import { isRefusal, refuse } from '../../../protocol/errors.ts';
import { accountIdOf, organizationOf as organizationOfAccount } from '../../../protocol/ids.ts';
import { ChainCheck, checkpointText, isSigned, type Checkpoint } from '../../../protocol/node/audit-chain.ts';
import { TIER_TERMS } from '../../../protocol/plans.ts';
import { cursorText } from '../../../protocol/cursor.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { stateOf } from '../account-state.ts';
import { noteBy } from '../audit-note.ts';
import { accountOf, bearerOf, type Asked, type Handlers } from '../context.ts';
import { notFresh } from '../organization/second-factor.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf } from '../views.ts';
import { csvHead, csvOf } from './csv.ts';
import { Walks } from './walks.ts';

/** Entries of one query of a walk over the whole chain: while they are hashed no other request is answered. */
const CHAIN_PAGE = 500;

/**
 * Entries of one answer to an edge, and their bytes above which the rest is asked for again: an edge reads no answer of
 * more than 256 KiB (edge/link/upstream.ts).
 */
const EDGE_PAGE = 400;
const EDGE_BYTES_MAX = 200_000;

type Area = 'listAuditLog' | 'getAuditCheckpoint' | 'verifyAuditLog' | 'exportAuditLog' | 'continueAuditLog';

export function auditLogHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    auth,
    stores: { auditLog },
    nowMs,
  } = deps;
  const walks = new Walks<ReplyOf<'verifyAuditLog'>>();
  const organizationOf = (asked: Pick<Asked, 'caller'>) => {
    accountOf(asked);
    return bearerOf(asked).organizationId!;
  };
  const checkpointOf = async (organization: string): Promise<Checkpoint> => {
    const head = (await auditLog.head(organization)) ?? new ChainCheck(organization).head;
    const said = { organization, ...head, at: instantOf(nowMs()) };
    return { ...said, ...auth.issuer.signText(checkpointText(said)) };
  };
  return {
    async listAuditLog(asked) {
      const organizationId = organizationOf(asked);
      const ask = pageAskOf('audit-log', asked.query);
      if (isRefusal(ask)) return ask;
      const { actor, action, target, outcome, from, to, size } = asked.query;
      const filter: AuditFilter = {
        ...(actor === undefined ? {} : { actor }),
        ...(action === undefined ? {} : { action }),
        ...(target === undefined ? {} : { target }),
        ...(outcome === undefined ? {} : { outcome }),
        ...(from === undefined ? {} : { fromMs: Date.parse(from) }),
        ...(to === undefined ? {} : { toMs: Date.parse(to) }),
      };
      const after = 'after' in ask ? ask.after : null;
      // A walk is one reading.
      if (after === null) await auditLog.record({ ...noteBy(asked, 'listAuditLog'), organizationId });
      const { rows, below } = await auditLog.page(organizationId, filter, {
        below: after === null ? null : Number(after.key),
        size,
      });
      return {
        content: rows.map(entryView),
        next: below === null ? null : cursorText('audit-log', { page: (after?.page ?? 0) + 1, key: String(below) }),
      };
    },
    getAuditCheckpoint: (asked) => checkpointOf(organizationOf(asked)),
    async verifyAuditLog(asked) {
      const organization = organizationOf(asked);
      const { checkpoint: kept } = asked.body;
      if (kept !== undefined && (kept.organization !== organization || !isSigned(kept, auth.issuer.publicKeys())))
        return refuse('INVALID_INPUT', {
          field: 'body.checkpoint',
          reason: 'not signed by this cloud for this organization',
        });
      return walks.walk(organization, kept === undefined ? 'alone' : `${kept.seq} ${kept.hash}`, async () => {
        const now = await checkpointOf(organization);
        const check = new ChainCheck(organization, [
          ...(now.seq === 0 ? [] : [now]),
          ...(kept === undefined ? [] : [kept]),
        ]);
        for await (const entry of chainOf(deps, organization, now.seq)) check.add(entry);
        check.end();
        return { ok: check.problems.length === 0, checkpoint: now, problems: [...check.problems] };
      });
    },
    async continueAuditLog(asked) {
      const { environment } = asked.caller;
      // Who runs a sandbox reads no log: it holds what people did in live.
      if (environment !== 'live')
        return refuse('FORBIDDEN', { reason: 'only edges of the live environment read the audit log' });
      const organization = organizationOfAccount(accountOf(asked));
      const now = await checkpointOf(organization);
      const { behind } = asked.body;
      if (behind === null || behind >= now.seq) return { checkpoint: now, entries: [] };
      const rows = await auditLog.chain(organization, behind, EDGE_PAGE);
      return { checkpoint: now, entries: firstOf(rows.filter(({ seq }) => seq <= now.seq)) };
    },
    async exportAuditLog(asked) {
      const organizationId = organizationOf(asked);
      const { plan } = await stateOf(deps, accountIdOf(organizationId, 'live'));
      if (TIER_TERMS[plan.tier].auditDays !== null)
        return refuse('TIER_FEATURE_LOCKED', { feature: 'auditExport', tier: plan.tier, requiredTier: 'ultimate' });
      const stale = await notFresh(deps, asked, undefined);
      if (stale !== null) return stale;
      await auditLog.record({ ...noteBy(asked, 'exportAuditLog', { target: asked.query.format }), organizationId });
      const checkpoint = await checkpointOf(organizationId);
      const chain = chainOf(deps, organizationId, checkpoint.seq);
      const isCsv = asked.query.format === 'csv';
      asked.setHeader('content-disposition', `attachment; filename="audit-log.${isCsv ? 'csv' : 'jsonl'}"`);
      return Readable.from(isCsv ? csvLines(chain) : jsonLines(checkpoint, chain), { objectMode: false }) as never;
    },
  };
}

/** As many as fit into an answer as it is sent, one at least. */
export function firstOf(rows: readonly AuditEntryRow[]): AuditEntryRow[] {
  let bytes = 0;
  return rows.filter((row, at) => (bytes += Buffer.byteLength(JSON.stringify(row)) + 1) <= EDGE_BYTES_MAX || at === 0);
}

/** The chain up to a `seq`, page by page: what comes meanwhile is of the next walk. */
async function* chainOf(
  { stores: { auditLog } }: Pick<HandlerDeps, 'stores'>,
  organizationId: string,
  upTo: number,
): AsyncGenerator<AuditEntryRow> {
  for (let behind = 0; behind < upTo;) {
    const rows = await auditLog.chain(organizationId, behind, CHAIN_PAGE);
    for (const row of rows) if (row.seq <= upTo) yield row;
    if (rows.length < CHAIN_PAGE) return;
    behind = rows.at(-1)!.seq;
  }
}

/** Lines, some hundred in one piece. */
async function* pieces(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const line of lines) {
    piece += line;
    if (piece.length < 65_536) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

async function* jsonOf(checkpoint: Checkpoint, chain: AsyncIterable<AuditEntryRow>): AsyncGenerator<string> {
  yield `${JSON.stringify({ format: 'flock-audit-1', checkpoint })}\n`;
  for await (const { seq, hash, text } of chain) yield `${JSON.stringify({ seq, hash, text })}\n`;
}
const jsonLines = (checkpoint: Checkpoint, chain: AsyncIterable<AuditEntryRow>) => pieces(jsonOf(checkpoint, chain));

async function* rowsOf(chain: AsyncIterable<AuditEntryRow>): AsyncGenerator<string> {
  yield csvHead;
  for await (const entry of chain) yield csvOf(entry);
}
const csvLines = (chain: AsyncIterable<AuditEntryRow>) => pieces(rowsOf(chain));

type View = ReplyOf<'listAuditLog'>['content'][number];

/** An entry as its text has it. */
function entryView({ hash, text }: AuditEntryRow): View {
  const {
    at,
    environment = null,
    reason = null,
    ...said
  } = JSON.parse(text!) as Omit<View, 'at' | 'hash'> & { at: number };
  return { ...said, environment, reason, at: instantOf(at), hash };
}
