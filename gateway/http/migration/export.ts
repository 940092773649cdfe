/** A project as a file that an import reads again, and whether a format can say all of it. Migration M-E2–M-E4. */
import { Readable } from 'node:stream';
import { csvLine, endLine, jsonLine } from '../../../actors/migration/formats/write.ts';
import type { AdoptedRow } from '../../../model/ports/import-store.ts';
import type { Project } from '../../../model/ports/upload-store.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { EXPORT_FORMATS, type ExportFormat } from '../../../protocol/migration/words.ts';
import { accountOf, unknownIn, type Asked, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { pagesOf } from './pages.ts';

type Area = 'exportProject' | 'getExportPlan';

/** Names that the importer knows, in both formats. */
export const EXPORT_COLUMNS = ['address', 'chain', 'derivation_path', 'user_ref', 'tag', 'label'] as const;
type Exported = Pick<AdoptedRow, 'address' | 'chain' | 'derivationPath' | 'userRef' | 'tag' | 'label'>;

interface Writer {
  readonly file: string;
  readonly type: string;
  readonly head: string;
  row(row: Exported): string;
}
/** The formats that say everything of a row. The others would be made of public keys, and are not written yet. */
export const WRITERS: Readonly<Partial<Record<ExportFormat, Writer>>> = {
  CSV: {
    file: 'export.csv',
    type: 'text/csv',
    head: `${csvLine(EXPORT_COLUMNS)}\n`,
    row: (row) => `${csvLine(cellsOf(row).map((cell) => cell ?? ''))}\n`,
  },
  JSONL: {
    file: 'export.jsonl',
    type: 'application/x-ndjson',
    head: '',
    row: (row) => {
      const cells = cellsOf(row);
      return `${jsonLine(Object.fromEntries(EXPORT_COLUMNS.map((name, at) => [name, cells[at]])))}\n`;
    },
  },
};

/** The schema lets no other word in. */
const formatOf = (text: string): ExportFormat => EXPORT_FORMATS.find((one) => one === text.toUpperCase())!;

export function exportHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    stores: { imports, uploads },
  } = deps;
  async function projectOf(asked: Pick<Asked<'getExportPlan'>, 'caller' | 'params'>): Promise<Project | Refusal> {
    const { projectId } = asked.params;
    return (await uploads.project(accountOf(asked), projectId)) ?? unknownIn(asked, 'project', projectId);
  }
  return {
    async exportProject(asked) {
      const project = await projectOf(asked);
      if (isRefusal(project)) return project;
      const writer = WRITERS[formatOf(asked.query.format)];
      if (writer === undefined) return refuse('CONFLICT', { reason: 'not_expressible' });
      asked.setHeader('content-disposition', `attachment; filename="${writer.file}"`);
      asked.setHeader('content-type', `${writer.type}; charset=utf-8`);
      return Readable.from(exported(deps, writer, accountOf(asked), project.id), { objectMode: false }) as never;
    },
    async getExportPlan(asked) {
      const project = await projectOf(asked);
      if (isRefusal(project)) return project;
      const format = formatOf(asked.query.format),
        batches = await imports.batchesOf(accountOf(asked), project.id),
        isExpressible = WRITERS[format] !== undefined;
      const rows = batches.reduce((sum, { state, adopting }) => sum + (state === 'committed' ? adopting : 0), 0);
      return {
        projectId: project.id,
        format,
        rows,
        expressible: isExpressible ? rows : 0,
        inexpressible: isExpressible ? [] : [{ reason: 'format_not_written', count: rows }],
      };
    },
  };
}

async function* exported(
  { stores: { imports } }: Pick<HandlerDeps, 'stores'>,
  { head, row }: Writer,
  accountId: AccountId,
  projectId: string,
): AsyncGenerator<string> {
  let count = 0;
  if (head !== '') yield head;
  for await (const rows of pagesOf(imports, accountId, projectId)) {
    count += rows.length;
    yield rows.map(row).join('');
  }
  yield `${endLine(count)}\n`;
}

function cellsOf({ address, chain, derivationPath, userRef, tag, label }: Exported): (string | null)[] {
  return [address, chain, claimOf(derivationPath), userRef, tag, label];
}

/** The path as a file claims it; whose key it is below, an import finds again. Null where nobody has derived it. */
function claimOf(derivationPath: string): string | null {
  const [, steps] = /^\[[0-9a-f]{16}((?:\/[0-9]+'?)*)\]$/.exec(derivationPath) ?? [];
  if (steps !== undefined) return steps === '' ? null : `m${steps}`;
  return derivationPath === '[]' ? null : derivationPath;
}
