/** A project as a file that an import reads again, and whether a format can say all of it. Migration M-E2–M-E4. */
import { Readable } from 'node:stream';
import { endLine } from '../../../protocol/sheet.ts';
import type { Project } from '../../../model/ports/upload-store.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import { organizationOf, type AccountId } from '../../../protocol/ids.ts';
import { EXPORT_FORMATS, type ExportFormat, type LostField } from '../../../protocol/migration/words.ts';
import { stateOf } from '../account-state.ts';
import { noteBy } from '../audit-note.ts';
import { accountOf, unknownIn, type Asked, type Caller, type Handlers } from '../context.ts';
import { notFresh } from '../organization/second-factor.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { SHEETS, type Inexpressible, type Sheet } from './export-sheets.ts';
import { pagesOf } from './pages.ts';

type Area = 'exportProject' | 'getExportPlan';

/** The schema lets no other word in. */
const formatOf = (text: string): ExportFormat => EXPORT_FORMATS.find((one) => one === text.toUpperCase())!;

export function exportHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const { stores } = deps;
  /** Plans that are being counted. */
  const counting = new Map<string, Promise<Plan>>();

  async function projectOf(asked: Pick<Asked<'getExportPlan'>, 'caller' | 'params'>): Promise<Project | Refusal> {
    const { projectId } = asked.params;
    return (await stores.uploads.project(accountOf(asked), projectId)) ?? unknownIn(asked, 'project', projectId);
  }

  /** Of one project and format it is counted once, however many ask meanwhile. */
  function planOf(accountId: AccountId, projectId: string, format: ExportFormat): Promise<Plan> {
    const key = `${accountId} ${projectId} ${format}`,
      known = counting.get(key);
    if (known !== undefined) return known;
    const plan = counted(deps, accountId, projectId, format).finally(() => counting.delete(key));
    counting.set(key, plan);
    return plan;
  }

  /** The whole of a file that shows keys; its rows are read before the first byte, since one may refuse it. */
  async function ofKeys(asked: Asked<'exportProject'>, projectId: string, format: ExportFormat) {
    const stale = await notFresh(deps, asked, undefined);
    if (stale !== null) return stale;
    const accountId = accountOf(asked),
      sheet = SHEETS[format].open(await stateOf(deps, accountId));
    const tally = await filled(deps, accountId, projectId, sheet);
    const inexpressible = inexpressibleOf(tally);
    if (inexpressible.length > 0) return refuse('CONFLICT', { reason: 'not_expressible', inexpressible });
    const note = noteBy(asked, 'exportProject', { target: projectId, changes: { format: [null, format] } });
    await stores.auditLog.record({ ...note, organizationId: organizationOf(accountId) });
    return [...sheet.rest(), `${endLine(tally.rows)}\n`];
  }

  return {
    async exportProject(asked) {
      const format = formatOf(asked.query.format),
        { showsKeys, file, type, open } = SHEETS[format];
      const refused = showsKeys ? notOwner(asked.caller) : null;
      if (refused !== null) return refused;
      const project = await projectOf(asked);
      if (isRefusal(project)) return project;
      const accountId = accountOf(asked);
      const text = showsKeys
        ? await ofKeys(asked, project.id, format)
        : exported(deps, accountId, project.id, open(await stateOf(deps, accountId)));
      if (isRefusal(text)) return text;
      asked.setHeader('content-disposition', `attachment; filename="${file}"`);
      asked.setHeader('content-type', `${type}; charset=utf-8`);
      return Readable.from(text, { objectMode: false }) as never;
    },
    async getExportPlan(asked) {
      const project = await projectOf(asked);
      if (isRefusal(project)) return project;
      const format = formatOf(asked.query.format);
      return { projectId: project.id, format, ...(await planOf(accountOf(asked), project.id, format)) };
    },
  };
}

/** Whole keys are the owner's to show, in person. Refuses: UNAUTHORIZED, FORBIDDEN, IMPERSONATION_READ_ONLY. */
function notOwner({ bearer }: Caller): Refusal | null {
  if (bearer === null) return refuse('UNAUTHORIZED', { reason: 'whole keys are shown to a person who signed in' });
  if (bearer.support !== undefined) return refuse('IMPERSONATION_READ_ONLY');
  return bearer.role === 'owner' ? null : refuse('FORBIDDEN', { needs: 'owner', has: bearer.role });
}

interface Tally {
  rows: number;
  bytes: number;
  readonly inexpressible: Map<Inexpressible['reason'], number>;
  readonly loses: Set<LostField>;
}
type Plan = Pick<Tally, 'rows' | 'bytes'> & {
  readonly expressible: number;
  readonly inexpressible: (Inexpressible & { readonly count: number })[];
  readonly loses: LostField[];
};

const inexpressibleOf = ({ inexpressible }: Tally) => [...inexpressible].map(([reason, count]) => ({ reason, count }));

/** Every row of the project, read into a sheet. */
async function filled(
  { stores: { imports } }: Pick<HandlerDeps, 'stores'>,
  accountId: AccountId,
  projectId: string,
  sheet: Sheet,
): Promise<Tally> {
  const tally: Tally = { rows: 0, bytes: 0, inexpressible: new Map(), loses: new Set() };
  for await (const rows of pagesOf(imports, accountId, projectId)) {
    tally.rows += rows.length;
    for (const row of rows) {
      const text = sheet.row(row);
      if (typeof text === 'string') tally.bytes += Buffer.byteLength(text);
      else tally.inexpressible.set(text.reason, (tally.inexpressible.get(text.reason) ?? 0) + 1);
      for (const lost of sheet.loses(row)) tally.loses.add(lost);
    }
  }
  return tally;
}

async function counted(
  deps: Pick<HandlerDeps, 'stores' | 'accounts'>,
  accountId: AccountId,
  projectId: string,
  format: ExportFormat,
): Promise<Plan> {
  const sheet = SHEETS[format].open(await stateOf(deps, accountId));
  const tally = await filled(deps, accountId, projectId, sheet),
    inexpressible = inexpressibleOf(tally);
  let bytes = Buffer.byteLength(sheet.head) + tally.bytes + Buffer.byteLength(`${endLine(tally.rows)}\n`);
  for (const text of sheet.rest()) bytes += Buffer.byteLength(text);
  const without = inexpressible.reduce((sum, { count }) => sum + count, 0);
  return {
    rows: tally.rows,
    expressible: tally.rows - without,
    inexpressible,
    loses: [...tally.loses].toSorted(),
    bytes,
  };
}

/** Page by page: nothing of the file is kept. */
async function* exported(
  { stores: { imports } }: Pick<HandlerDeps, 'stores'>,
  accountId: AccountId,
  projectId: string,
  sheet: Sheet,
): AsyncGenerator<string> {
  let count = 0;
  if (sheet.head !== '') yield sheet.head;
  for await (const rows of pagesOf(imports, accountId, projectId)) {
    count += rows.length;
    yield rows.map((row) => sheet.row(row) as string).join('');
  }
  yield `${endLine(count)}\n`;
}
