/** Wallets from elsewhere: projects, their files, what was found, what is watched, the cutover and the way back. */
import '../ui/together.ts';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../protocol/routes.ts';
import { ask, askWithFactor, may, type Scope } from '../app/ask.ts';
import { go, hrefOf } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Form, useSend } from '../ui/form.tsx';
import { Code, Facts, Head, Panel, Status, Text, Time, type Tone } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Pager, Table } from '../ui/table.tsx';
import { Copies } from './migration-copies.tsx';
import { afterOf, again, Batches, number, type OfProject } from './migration-files.tsx';

type Project = ReplyOf<'createMigrationProject'>;

const PROJECT_TONES: Readonly<Record<Project['state'], Tone>> = { draft: 'quiet', observe: 'info', active: 'good' };

export function Migration({ scope }: PageProps): JSX.Element {
  const read = useRead('listMigrationProjects', scope, { query: { size: '50', ...afterOf() } });
  const [isNew, setNew] = useState(false);
  return (
    <>
      <Head
        title="Migration"
        note="Take over addresses that another wallet gave out: their deposits are watched, and not announced before you cut over."
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

const SAYS: Readonly<Record<Project['state'], string>> = {
  draft: 'Nothing is committed yet: nobody is watched.',
  observe:
    'Addresses are watched and billed. Deposits are recorded and not announced; withdrawals wait for the cutover.',
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
