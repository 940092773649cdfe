/** Files of a project: a file goes up, is checked, and is adopted as a whole or taken back. */
import '../ui/together.ts';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isRefusal, readRefusal, refuse, type ErrorCode, type Refusal } from '../../protocol/errors.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { PHASES } from '../../protocol/migration/words.ts';
import { ask, may, type Scope } from '../app/ask.ts';
import { place } from '../app/location.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Form, useSend } from '../ui/form.tsx';
import { Code, Facts, Instant, Panel, Status, Text, Time, type Tone } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Pager, Table } from '../ui/table.tsx';
import { words } from '../ui/text.ts';

type Batch = ReplyOf<'getImport'>;
type Observed = ReplyOf<'getObserve'>;
export interface OfProject {
  readonly scope: Scope;
  readonly observed: Observed;
}
export const again = (): void => {
  readAgain('getObserve');
  readAgain('listImports');
  readAgain('listMigrationProjects');
};

const BATCH_TONES: Readonly<Record<Batch['state'], Tone>> = {
  created: 'quiet',
  validating: 'info',
  valid: 'good',
  invalid: 'bad',
  conflict: 'warn',
  committing: 'info',
  committed: 'good',
  rolling_back: 'info',
  rolled_back: 'quiet',
};
export const number = (of: number): string => of.toLocaleString('en');
export const afterOf = (): { after?: string } => {
  const { after } = place.value.query;
  return after === undefined ? {} : { after };
};

export function Batches({ scope, observed: { projectId, state } }: OfProject): JSX.Element {
  const read = useRead(
    'listImports',
    scope,
    { params: { projectId }, query: { size: '50', ...afterOf() } },
    { live: true },
  );
  const [shown, setShown] = useState<string | null>(null);
  const [isAdding, setAdding] = useState(false);
  return (
    <Panel
      title="Files"
      note="Each is checked, then adopted as a whole"
      actions={
        may('editor') &&
        state !== 'active' && (
          <button type="button" class="button primary" onClick={() => setAdding(true)}>
            Add a file
          </button>
        )
      }
    >
      <Shown read={read} rows={3}>
        {(page) =>
          page.content.length === 0 ? (
            <Empty title="No file yet">
              CSV, JSON lines, output descriptors, or blocks of keys. Never a phrase or a private key.
            </Empty>
          ) : (
            <>
              <Table
                caption="Files of the project"
                rows={page.content}
                keyOf={({ id }) => id}
                columns={[
                  {
                    name: 'Batch',
                    cell: ({ id }) => (
                      <button type="button" class="link" onClick={() => setShown(id)}>
                        {id.slice(0, 12)}…
                      </button>
                    ),
                  },
                  { name: 'State', cell: ({ state: now }) => <Status of={now} tone={BATCH_TONES[now]} /> },
                  { name: 'Of', cell: ({ scanId }) => (scanId === null ? 'A file' : 'A scan'), wideOnly: true },
                  { name: 'Addresses', align: 'right', cell: ({ adopting }) => number(adopting) },
                  { name: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
                  { name: 'Committed', cell: ({ committedAt }) => <Time at={committedAt} />, wideOnly: true },
                ]}
              />
              <Pager of={page} what="files" />
            </>
          )
        }
      </Shown>
      {isAdding && (
        <AddFile
          scope={scope}
          projectId={projectId}
          close={() => setAdding(false)}
          done={(id) => {
            setAdding(false);
            setShown(id);
          }}
        />
      )}
      {shown !== null && <BatchDetail scope={scope} batchId={shown} close={() => setShown(null)} />}
    </Panel>
  );
}

/** What the URL of a file says to it: with a secret in it nothing is kept, and its line is named. */
async function refusalOf(response: Response): Promise<Refusal> {
  const answer = (await response.json().catch(() => null)) as {
    error?: { code: ErrorCode; message: string; details: Record<string, unknown> };
  } | null;
  if (answer?.error === undefined) return refuse('UPSTREAM_UNAVAILABLE', { status: response.status });
  const { code, details, message } = answer.error;
  return readRefusal(code, details, message);
}

/** A file goes to its URL as it is; then it is whole, a batch of the project, and checked. */
function AddFile({
  scope,
  projectId,
  close,
  done,
}: {
  scope: Scope;
  projectId: string;
  close: () => void;
  done: (batchId: string) => void;
}): JSX.Element {
  const [file, setFile] = useState<File | null>(null);
  const sending = useSend<Batch>(
    async () => {
      if (file === null) return null;
      const opened = await ask('createUpload', scope, { body: { filename: file.name, bytes: file.size } });
      if (isRefusal(opened.outcome)) return { ...opened, outcome: opened.outcome };
      const { uploadId, uploadUrl } = opened.outcome;
      const { pathname, search } = new URL(uploadUrl);
      const put = await fetch(`${pathname}${search}`, { method: 'PUT', body: file });
      if (!put.ok) return { ...opened, status: put.status, outcome: await refusalOf(put) };
      const complete = await ask('completeUpload', scope, { params: { uploadId }, body: {} });
      if (isRefusal(complete.outcome)) return { ...complete, outcome: complete.outcome };
      const made = await ask('createImport', scope, { params: { projectId }, body: { uploadId } });
      if (!isRefusal(made.outcome)) await ask('validateImport', scope, { params: { batchId: made.outcome.id } });
      return made;
    },
    ({ id }) => {
      again();
      done(id);
    },
  );
  return (
    <Dialog title="Add a file" onClose={close}>
      <Form sending={sending} label="Upload and check" onCancel={close}>
        <div class="field">
          <label for="migration-file">File</label>
          <input
            id="migration-file"
            type="file"
            required
            onChange={({ currentTarget: { files } }) => setFile(files?.[0] ?? null)}
          />
          <p class="hint">
            Text up to 256 MiB. A file with a recovery phrase, a private key or a password in it is refused and erased.
          </p>
        </div>
      </Form>
    </Dialog>
  );
}

function BatchDetail({ scope, batchId, close }: { scope: Scope; batchId: string; close: () => void }): JSX.Element {
  const params = { batchId };
  const batch = useRead('getImport', scope, { params }, { live: true });
  const isChecked = batch.data !== null && batch.data.dryRunId !== null;
  const report = useRead('getDryRun', scope, { params }, { live: true, skip: !isChecked });
  const settled = (): void => {
    readAgain('getImport');
    readAgain('getDryRun');
    again();
  };
  return (
    <Dialog title="File" onClose={close} wide>
      <Shown read={batch} rows={4}>
        {(now) => (
          <>
            <Facts
              rows={[
                ['Batch', <Code of={now.id} />],
                ['State', <Status of={now.state} tone={BATCH_TONES[now.state]} />],
                ['Addresses', number(now.adopting)],
                ...(now.review === null
                  ? []
                  : [['Review', `${words(now.review.state)}: another account claims some of its addresses`] as const]),
                ...(now.committedAt === null ? [] : [['Committed', <Instant at={now.committedAt} />] as const]),
                ...(now.state === 'committed'
                  ? [['Can be taken back until', <Instant at={now.rollbackUntil} />] as const]
                  : []),
              ]}
            />
            {isChecked && (
              <Shown read={report} rows={4}>
                {(found) => <Report found={found} />}
              </Shown>
            )}
            {may('editor') && <Actions scope={scope} batch={now} report={report.data} done={settled} />}
          </>
        )}
      </Shown>
    </Dialog>
  );
}

function Report({ found }: { found: ReplyOf<'getDryRun'> }): JSX.Element {
  const { byPhase, issues, projection } = found;
  return (
    <>
      <Facts
        rows={[
          ['Rows', number(found.rows)],
          ['To adopt', number(found.adoptable)],
          ['Passed over', number(found.skipped)],
          ['Can be spent from here', number(found.spendable)],
          ['Watched only', number(found.watchOnly)],
          ...(found.conflicts === 0
            ? []
            : [['Claimed by another account', `${number(found.conflicts)}: a person looks at them`] as const]),
          ...(projection.exceeds
            ? [['Purchased band', `Ends at ${number(projection.limit ?? 0)}: a larger one is needed`] as const]
            : []),
        ]}
      />
      <Table
        caption="Phases of the check"
        rows={PHASES.map((phase) => ({ phase, ...byPhase[phase] }))}
        keyOf={({ phase }) => phase}
        columns={[
          { name: 'Phase', cell: ({ phase }) => words(phase) },
          {
            name: 'State',
            cell: ({ state }) => (
              <Status of={state} tone={state === 'passed' ? 'good' : state === 'failed' ? 'bad' : 'quiet'} />
            ),
          },
          { name: 'Rows', align: 'right', cell: ({ rows }) => number(rows) },
          { name: 'Passed over', align: 'right', cell: ({ skipped }) => number(skipped) },
          { name: 'Warnings', align: 'right', cell: ({ warnings }) => number(warnings) },
          { name: 'Errors', align: 'right', cell: ({ errors }) => number(errors) },
        ]}
      />
      {issues.length > 0 && (
        <Table
          caption="The first of what was found"
          rows={issues.slice(0, 20).map((issue, at) => ({ at, ...issue }))}
          keyOf={({ at }) => String(at)}
          columns={[
            { name: 'Line', align: 'right', cell: ({ line }) => line ?? '–' },
            {
              name: 'Kind',
              cell: ({ severity }) => <Status of={severity} tone={severity === 'error' ? 'bad' : 'warn'} />,
            },
            { name: 'Code', cell: ({ code }) => <code>{code}</code> },
            { name: 'Field', cell: ({ field }) => <Text of={field} />, wideOnly: true },
            { name: 'What', cell: ({ message }) => <Text of={message} /> },
          ]}
        />
      )}
    </>
  );
}

const CHECKED_ANEW: ReadonlySet<Batch['state']> = new Set(['created', 'valid', 'invalid', 'rolled_back']);

function Actions({
  scope,
  batch: { id, state, dryRunId },
  report,
  done,
}: {
  scope: Scope;
  batch: Batch;
  report: ReplyOf<'getDryRun'> | null;
  done: () => void;
}): JSX.Element {
  const params = { batchId: id };
  const isLarger = report?.projection.exceeds === true;
  const check = useSend<unknown>((_, idempotencyKey) => ask('validateImport', scope, { params, idempotencyKey }), done);
  const commit = useSend<unknown>(
    (_, idempotencyKey) =>
      ask('commitImport', scope, {
        params,
        idempotencyKey,
        body: { dryRunId: dryRunId ?? '', ...(isLarger ? { acceptBillingChange: true } : {}) },
      }),
    done,
  );
  const back = useSend<unknown>((_, idempotencyKey) => ask('rollbackImport', scope, { params, idempotencyKey }), done);
  return (
    <div class="filters">
      {state === 'valid' && (
        <Form
          sending={commit}
          label={isLarger ? `Commit, and buy the band ${words(report.projection.requiredBand ?? '')}` : 'Commit'}
          inline
        />
      )}
      {CHECKED_ANEW.has(state) && <Form sending={check} label="Check it again" inline />}
      {state === 'committed' && (
        <>
          <p class="faint">It goes back within 72 hours, and before any transaction lands on one of its addresses.</p>
          <Form sending={back} label="Take it back" danger inline />
        </>
      )}
    </div>
  );
}
