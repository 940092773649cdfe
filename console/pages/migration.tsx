/** Wallets from elsewhere: projects, their files, what was found, what is watched, the cutover and the way back. */
import '../ui/together.ts';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isRefusal, readRefusal, refuse, type ErrorCode, type Refusal } from '../../protocol/errors.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { PHASES } from '../../protocol/migration/words.ts';
import { ask, askWithFactor, may, type Scope } from '../app/ask.ts';
import { go, hrefOf, place } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Form, useSend } from '../ui/form.tsx';
import { Code, Facts, Head, Instant, Panel, Status, Text, Time, type Tone } from '../ui/parts.tsx';
import { save } from '../ui/secret.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Pager, Steps, Table } from '../ui/table.tsx';
import { words } from '../ui/text.ts';

type Batch = ReplyOf<'getImport'>;
type Project = ReplyOf<'createMigrationProject'>;

const PROJECT_TONES: Readonly<Record<Project['state'], Tone>> = { draft: 'quiet', observe: 'info', active: 'good' };
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
/** A copy of more addresses than this is for the command line: the browser would hold all of it. */
const SAVED_MAX = 50_000;
const number = (of: number): string => of.toLocaleString('en');

export function Migration({ scope }: PageProps): JSX.Element {
  const read = useRead('listMigrationProjects', scope, { query: { size: '50', ...afterOf() } });
  const [isNew, setNew] = useState(false);
  return (
    <>
      <Head
        title="Migration"
        note="Take over addresses that another wallet gave out: their deposits are watched, and told to nobody before you cut over."
        actions={
          may('editor') && (
            <button type="button" class="button primary" onClick={() => setNew(true)}>
              New project
            </button>
          )
        }
      />
      <Panel>
        <Shown read={read}>
          {(page) =>
            page.content.length === 0 ? (
              <Empty title="No project yet">
                A project is one old wallet system. What comes of it is cut over together.
              </Empty>
            ) : (
              <>
                <Table
                  caption="Projects"
                  rows={page.content}
                  keyOf={({ id }) => id}
                  columns={[
                    {
                      name: 'Name',
                      cell: ({ id, name }) => (
                        <a href={hrefOf(scope, `/migration/${id}`)}>
                          <Text of={name} />
                        </a>
                      ),
                    },
                    { name: 'State', cell: ({ state }) => <Status of={state} tone={PROJECT_TONES[state]} /> },
                    { name: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
                  ]}
                />
                <Pager of={page} what="projects" />
              </>
            )
          }
        </Shown>
      </Panel>
      {isNew && <NewProject scope={scope} close={() => setNew(false)} />}
    </>
  );
}

const afterOf = (): { after?: string } => {
  const { after } = place.value.query;
  return after === undefined ? {} : { after };
};

function NewProject({ scope, close }: { scope: Scope; close: () => void }): JSX.Element {
  const sending = useSend(
    ({ name = '' }, idempotencyKey) => ask('createMigrationProject', scope, { idempotencyKey, body: { name } }),
    ({ id }) => go(hrefOf(scope, `/migration/${id}`)),
  );
  return (
    <Dialog title="New project" onClose={close}>
      <Form sending={sending} label="Create" onCancel={close}>
        <Field label="Name" name="name" required maxLength={120} hint="Of the old wallet system." />
      </Form>
    </Dialog>
  );
}

export function MigrationProject({ scope, params }: PageProps): JSX.Element {
  const projectId = params['id']!;
  const projects = useRead('listMigrationProjects', scope);
  const observe = useRead('getObserve', scope, { params: { projectId } }, { live: true });
  const name = projects.data?.content.find(({ id }) => id === projectId)?.name ?? 'Project';
  return (
    <>
      <Head title={<Text of={name} />} note={<Code of={projectId} />} />
      <Shown read={observe} rows={5}>
        {(observed) => (
          <>
            <Cutover scope={scope} observed={observed} />
            <Watched observed={observed} />
            <Batches scope={scope} observed={observed} />
            <Copies scope={scope} observed={observed} />
          </>
        )}
      </Shown>
    </>
  );
}

type Observed = ReplyOf<'getObserve'>;
interface OfProject {
  readonly scope: Scope;
  readonly observed: Observed;
}
const again = (): void => {
  readAgain('getObserve');
  readAgain('listImports');
  readAgain('listMigrationProjects');
};

const SAYS: Readonly<Record<Project['state'], string>> = {
  draft: 'Nothing is committed yet: nobody is watched.',
  observe:
    'Addresses are watched and billed. Deposits are recorded and told to nobody; withdrawals wait for the cutover.',
  active: 'Cut over: what comes since is announced, and spendable addresses send.',
};

function Cutover({ scope, observed }: OfProject): JSX.Element {
  const { projectId, state, caughtUp, chains } = observed;
  const [asked, setAsked] = useState<'activate' | 'deactivate' | null>(null);
  const straddling = chains.reduce((sum, chain) => sum + chain.straddling, 0);
  return (
    <Panel
      title="Cutover"
      actions={
        <>
          {state === 'observe' && may('owner') && (
            <button type="button" class="button primary" disabled={!caughtUp} onClick={() => setAsked('activate')}>
              Cut over
            </button>
          )}
          {state === 'active' && may('editor') && (
            <button type="button" class="button" onClick={() => setAsked('deactivate')}>
              Back to observe
            </button>
          )}
        </>
      }
    >
      <Facts
        rows={[
          ['State', <Status of={state} tone={PROJECT_TONES[state]} />],
          ['Means', SAYS[state]],
          ['Addresses', number(observed.addresses)],
          ['Read again since the commit', caughtUp ? 'Yes' : 'Not yet: the cutover waits for it'],
          [
            'Straddling deposits',
            straddling === 0
              ? 'None'
              : `${number(straddling)}: they stay silent, the old wallet or a person credits them`,
          ],
        ]}
      />
      {state === 'observe' && !may('owner') && <p class="faint">An owner cuts over, with a second factor.</p>}
      {asked !== null && <Cut scope={scope} projectId={projectId} to={asked} close={() => setAsked(null)} />}
    </Panel>
  );
}

function Cut({
  scope,
  projectId,
  to,
  close,
}: {
  scope: Scope;
  projectId: string;
  to: 'activate' | 'deactivate';
  close: () => void;
}): JSX.Element {
  const sending = useSend<Project>(
    (_, idempotencyKey) =>
      to === 'deactivate'
        ? ask('deactivateProject', scope, { params: { projectId }, idempotencyKey })
        : askWithFactor(
            'You cut over: from now on deposits are announced here.',
            'activateProject',
            scope,
            (totp) => ({ params: { projectId }, idempotencyKey, body: totp === undefined ? {} : { totp } }),
            { inBody: true },
          ),
    () => {
      again();
      close();
    },
  );
  return (
    <Dialog title={to === 'activate' ? 'Cut over' : 'Back to observe'} onClose={close}>
      {to === 'activate' ? (
        <ol>
          <li>The counts of both systems have agreed for a day.</li>
          <li>The old signer is stopped.</li>
          <li>You cut over here.</li>
          <li>The old wallet, or a person, credits the straddling deposits.</li>
          <li>The old watcher is stopped.</li>
        </ol>
      ) : (
        <p>New deposits are silent again, and nothing is built or bound. What is signed already is followed.</p>
      )}
      <Form sending={sending} label={to === 'activate' ? 'Cut over now' : 'Go back'} onCancel={close} />
    </Dialog>
  );
}

function Watched({ observed: { chains } }: Pick<OfProject, 'observed'>): JSX.Element {
  return (
    <Panel title="What was seen" note="Deposits that were recorded and not announced">
      {chains.length === 0 ? (
        <Empty title="Nothing is watched">A commit begins to watch its addresses.</Empty>
      ) : (
        <Table
          caption="Silent deposits by chain"
          rows={chains}
          keyOf={({ chain }) => chain}
          columns={[
            { name: 'Chain', cell: ({ chain }) => chain },
            { name: 'Recorded height', align: 'right', cell: ({ recordedHeight }) => recordedHeight ?? '–' },
            { name: 'Read again', cell: ({ caughtUp }) => (caughtUp ? 'Yes' : 'Not yet') },
            { name: 'Historical', align: 'right', cell: ({ historicalRecorded }) => number(historicalRecorded) },
            { name: 'Observed', align: 'right', cell: ({ depositsObserved }) => number(depositsObserved) },
            { name: 'Confirmed', align: 'right', wideOnly: true, cell: ({ confirmed }) => number(confirmed) },
            { name: 'Pending', align: 'right', wideOnly: true, cell: ({ pending }) => number(pending) },
            { name: 'Reversed', align: 'right', wideOnly: true, cell: ({ reversed }) => number(reversed) },
            { name: 'Straddling', align: 'right', cell: ({ straddling }) => number(straddling) },
          ]}
        />
      )}
    </Panel>
  );
}

function Batches({ scope, observed: { projectId, state } }: OfProject): JSX.Element {
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
        {({ content, next }) =>
          content.length === 0 ? (
            <Empty title="No file yet">
              CSV, JSON lines, output descriptors, or blocks of keys. Never a phrase or a private key.
            </Empty>
          ) : (
            <>
              <Table
                caption="Files of the project"
                rows={content}
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
              <Steps next={next} what="files">
                {content.length} shown
              </Steps>
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
      <p>
        {number(found.rows)} rows: {number(found.adoptable)} to adopt, {number(found.skipped)} passed over.{' '}
        {number(found.spendable)} can be spent from here, {number(found.watchOnly)} are watched only.
        {found.conflicts > 0 && ` ${number(found.conflicts)} are claimed by another account: a person looks at them.`}
        {projection.exceeds && ` The purchased band ends at ${number(projection.limit ?? 0)}: a larger one is needed.`}
      </p>
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
    <>
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
    </>
  );
}

function Copies({ scope, observed: { projectId, addresses } }: OfProject): JSX.Element {
  const params = { projectId };
  const reconcile = useSend<unknown>(
    () => ask('getReconciliation', scope, { params }),
    (text) => save(String(text), 'reconciliation.csv'),
  );
  const copy = useSend<unknown>(
    () => ask('exportProject', scope, { params, query: { format: 'CSV' } }),
    (text) => save(String(text), 'addresses.csv'),
  );
  return (
    <Panel title="Copies" note="Every address with its path, reference and counts, to compare with the old wallet">
      {addresses > SAVED_MAX ? (
        <p class="faint">
          {number(addresses)} addresses are too many for a browser: read <code>reconciliation</code> and{' '}
          <code>export</code> of the project with an API key.
        </p>
      ) : (
        <>
          <Form sending={reconcile} label="Save the reconciliation" inline />
          <Form sending={copy} label="Save the addresses" inline />
        </>
      )}
    </Panel>
  );
}
