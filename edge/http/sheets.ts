/** Files of a migration's addresses, looked at record by record as they stream through. Migration M-E1, M-E2. */
import { Readable } from 'node:stream';
import { isRefusal, refuse, Refused, type Refusal } from '../../protocol/errors.ts';
import { withheldAnswer } from '../answers/checked.ts';
import type { Known } from '../answers/known.ts';
import { checkedSheet, FalseSheet, type SheetForm } from '../answers/sheet.ts';
import type { Upstream } from '../link/upstream.ts';
import type { EdgeLog } from '../process/log.ts';
import { handedOn, isPassed, type Forwarding } from './forward.ts';
import { queryOf, refused, type EdgeCall, type EdgePath } from './exchange.ts';

export interface SheetSettings {
  readonly upstream: Pick<Upstream, 'stream'>;
  readonly forwarding: Pick<Forwarding, 'unsynced' | 'read'>;
  readonly known: Pick<Known, 'own'>;
  readonly log: Pick<EdgeLog, 'alarm'>;
}

const FORMS: Readonly<Record<SheetForm, { readonly type: string; readonly name: string }>> = {
  reconciliation: { type: 'text/csv; charset=utf-8', name: 'reconciliation.csv' },
  csv: { type: 'text/csv; charset=utf-8', name: 'export.csv' },
  jsonl: { type: 'application/x-ndjson; charset=utf-8', name: 'export.jsonl' },
};

/** A file of this length is looked at whole before the first byte is answered. */
const BEGINNING_CHARACTERS = 64 * 1_024;

/** An answer that nobody reads on ends with an error. */
const leave = (file: Readable): void => void file.on('error', () => undefined).destroy();

async function beginningOf(records: AsyncGenerator<string>): Promise<{ begun: string; isAll: boolean }> {
  let begun = '';
  while (begun.length < BEGINNING_CHARACTERS) {
    const { value, done } = await records.next();
    if (done === true) return { begun, isAll: true };
    begun += value;
  }
  return { begun, isAll: false };
}

export function createSheetPaths({ upstream, forwarding, known, log }: SheetSettings) {
  /** What is asked for; null for formats with whole keys, which the cloud shows to no key. */
  const formOf = ({ route, pathAndQuery }: EdgeCall): SheetForm | null => {
    if (route.operationId === 'getReconciliation') return 'reconciliation';
    const format = String(queryOf(pathAndQuery)['format'] ?? 'CSV').toUpperCase();
    return format === 'CSV' ? 'csv' : format === 'JSONL' ? 'jsonl' : null;
  };

  const path: EdgePath = async (call) => {
    const unsynced = forwarding.unsynced();
    if (unsynced !== null) return refused(unsynced);
    const answer = await upstream.stream(call.route.method, call.pathAndQuery, call.headers);
    if (isRefusal(answer)) return refused(answer);
    const form = formOf(call);
    if (!('file' in answer)) {
      const passed = await forwarding.read(call, answer);
      return isPassed(passed) ? handedOn(passed) : passed;
    }
    const { type, name } = form === null ? { type: '', name: '' } : FORMS[form];
    if (form === null || answer.type !== type) {
      leave(answer.file);
      log.alarm('answer_false', { requestId: call.requestId, route: call.route.path, reason: 'content-type' });
      return refused(withheldAnswer(call.route, 'content-type'));
    }
    const records = checkedSheet(form, answer.file, known);
    try {
      const { begun, isAll } = await beginningOf(records);
      const body = Readable.from(isAll ? [begun] : rest(call, begun, records), { objectMode: false });
      // Also of a body that was never read: the rest would wait at the cloud, and hold a connection to it.
      body.once('close', () => leave(answer.file));
      return {
        kind: 'streamed',
        contentType: type,
        headers: { 'content-disposition': `attachment; filename="${name}"` },
        body,
      };
    } catch (error) {
      return refused(refusalOf(call, error));
    }
  };

  /** What comes behind the beginning has no status any more: the answer breaks off before its end. */
  async function* rest(call: EdgeCall, begun: string, records: AsyncGenerator<string>): AsyncGenerator<string> {
    yield begun;
    try {
      yield* records;
    } catch (error) {
      throw new Refused(refusalOf(call, error));
    }
  }

  function refusalOf({ requestId, route }: EdgeCall, error: unknown): Refusal {
    if (!(error instanceof FalseSheet)) return refuse('UPSTREAM_UNAVAILABLE', { reason: 'broken_off' });
    log.alarm('answer_false', { requestId, route: route.path, reason: error.field });
    return withheldAnswer(route, error.field);
  }

  return { getReconciliation: path, exportProject: path } as const;
}
