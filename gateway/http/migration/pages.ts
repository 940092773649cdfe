/** The addresses of a project, page by page behind the last one that was read. */
import type { AdoptedRow, ImportStore } from '../../../model/ports/import-store.ts';
import type { AccountId } from '../../../protocol/ids.ts';

/** Rows of one statement of a walk. */
const ROWS_AT_ONCE = 2_000;

/** Every address of committed batches once, batch by batch in the order of their ids; pages are never empty. */
export async function* pagesOf(
  imports: Pick<ImportStore, 'adopted'>,
  accountId: AccountId,
  projectId: string,
): AsyncGenerator<AdoptedRow[]> {
  for (let after: AdoptedRow | null = null; ;) {
    const rows: AdoptedRow[] = await imports.adopted(accountId, projectId, after, ROWS_AT_ONCE);
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_AT_ONCE) return;
    after = rows.at(-1)!;
  }
}
