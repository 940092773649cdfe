/**
 * Changes to the token registry: what administrators propose of its tokens and routes, what it makes otherwise than the
 * version in force, and the publication by another one of them. Treasury K7, K8, K10, H1.
 */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { BodyOf, ReplyOf } from '../../protocol/routes.ts';
import { askWithFactor } from '../app/ask.ts';
import { place } from '../app/location.ts';
import { readAgain, useRead } from '../app/read.ts';
import { login } from '../app/session.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Form, useSend } from '../ui/form.tsx';
import { Code, Facts, Head, Instant, Panel, Status, Text, Time } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Steps, Table } from '../ui/table.tsx';
import { changeWords, DeploymentForm, RouteForm, without, type Change } from './admin-registry-change.tsx';
import { Differences, PublishForm, signaturesOf } from './admin-registry-version.tsx';

type Proposal = ReplyOf<'getRegistryProposal'>;
const TONES = { proposed: 'info', published: 'good', withdrawn: 'quiet' } as const;

export function RegistryProposals(): JSX.Element {
  const { after } = place.value.query;
  const read = useRead('listRegistryProposals', null, { query: after === undefined ? {} : { after } });
  const [shown, setShown] = useState<string | null>(null);
  const [isNew, setNew] = useState(false);
  return (
    <>
      <Head
        title="Token registry"
        note="Flags of listed tokens, and which routes of a bridge are open. One administrator proposes, two keys sign, another publishes."
        actions={
          <button type="button" class="button primary" onClick={() => setNew(true)}>
            Propose a change
          </button>
        }
      />
      <Panel>
        <Shown read={read}>
          {({ content, next }) => {
            const open = content.find(({ id }) => id === shown);
            return content.length === 0 ? (
              <Empty title="No change was proposed">The registry is as it was published.</Empty>
            ) : (
              <>
                <Table
                  caption="Proposed changes"
                  rows={content}
                  keyOf={({ id }) => id}
                  columns={[
                    {
                      name: 'Change',
                      cell: (proposal) => (
                        <button type="button" class="link" onClick={() => setShown(proposal.id)}>
                          <Text of={summaryOf(proposal)} />
                        </button>
                      ),
                    },
                    { name: 'State', cell: ({ state }) => <Status of={state} tone={TONES[state]} /> },
                    { name: 'Version', align: 'right', cell: ({ version }) => version ?? '–' },
                    { name: 'Proposed by', cell: ({ proposedBy }) => <Code of={proposedBy} /> },
                    { name: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
                  ]}
                />
                <Steps next={next} what="proposed changes">
                  {content.length} shown
                </Steps>
                {open !== undefined && <Decide proposal={open} close={() => setShown(null)} />}
              </>
            );
          }}
        </Shown>
      </Panel>
      {isNew && <Propose close={() => setNew(false)} />}
    </>
  );
}

const summaryOf = ({ deployments, routes }: Pick<Proposal, 'deployments' | 'routes'>): string => {
  const lines = changeWords({ deployments, routes });
  return lines.length > 1 ? `${lines[0]!}, and ${lines.length - 1} more` : (lines[0] ?? 'Nothing');
};

/** What was gathered is one proposal, so that what belongs together is published together. */
function Propose({ close }: { close: () => void }): JSX.Element {
  const [change, setChange] = useState<Change>({ deployments: [], routes: [] });
  const lines = changeWords(change);
  const sending = useSend(
    () =>
      askWithFactor('A change to the token registry is proposed.', 'proposeRegistryVersion', null, () => ({
        body: change as BodyOf<'proposeRegistryVersion'>,
      })),
    () => {
      readAgain('listRegistryProposals');
      close();
    },
  );
  return (
    <Dialog title="Propose a change" onClose={close} wide>
      <div class="stack">
        <RouteForm add={(one) => setChange({ ...change, routes: [...change.routes, one] })} />
        <DeploymentForm add={(one) => setChange({ ...change, deployments: [...change.deployments, one] })} />
      </div>
      <section aria-label="The proposal">
        {lines.length === 0 ? (
          <Empty title="Nothing is added yet">Say what a token or a route should have otherwise, and add it.</Empty>
        ) : (
          <>
            <ul class="lines">
              {lines.map((line, at) => (
                <li key={`${at} ${line}`}>
                  <Text of={line} />
                  <button
                    type="button"
                    class="link"
                    aria-label={`Leave out: ${line}`}
                    onClick={() => setChange(without(change, at))}
                  >
                    Leave out
                  </button>
                </li>
              ))}
            </ul>
            <Form sending={sending} label="Propose it" onCancel={close} />
          </>
        )}
      </section>
    </Dialog>
  );
}

function Decide({ proposal, close }: { proposal: Proposal; close: () => void }): JSX.Element {
  const { id, state, against, version, proposedBy, publishedBy, withdrawnBy, reason, createdAt } = proposal;
  const done = (): void => {
    readAgain('listRegistryProposals');
    close();
  };
  const withdraw = useSend(
    ({ reason: why = '' }) =>
      askWithFactor('A proposed change is taken back.', 'withdrawRegistryProposal', null, () => ({
        params: { id },
        body: { reason: why.trim() },
      })),
    done,
  );
  return (
    <Dialog title="Change to the token registry" onClose={close} wide>
      <Facts
        rows={[
          ['State', <Status of={state} tone={TONES[state]} />],
          ['Proposed by', <Code of={proposedBy} />],
          ['Proposed', <Instant at={createdAt} />],
          ['Against', `version ${against}`],
          ...(version === null ? [] : [['Published as', `version ${version}`] as const]),
          ...(publishedBy === null ? [] : [['Published by', <Code of={publishedBy} />] as const]),
          ...(withdrawnBy === null ? [] : [['Withdrawn by', <Code of={withdrawnBy} />] as const]),
          ...(reason === null ? [] : [['Reason', <Text of={reason} />] as const]),
        ]}
      />
      {state === 'proposed' ? (
        <Open proposal={proposal} done={done} />
      ) : (
        <ul class="lines">
          {changeWords(proposal).map((line) => (
            <li key={line}>
              <Text of={line} />
            </li>
          ))}
        </ul>
      )}
      {state === 'proposed' && (
        <Form sending={withdraw} label="Withdraw" danger>
          <Field label="Reason" name="reason" required maxLength={500} hint="Kept with the proposal." />
        </Form>
      )}
    </Dialog>
  );
}

/** What would be published, against the version in force. */
function Open({ proposal: { id, proposedBy }, done }: { proposal: Proposal; done: () => void }): JSX.Element {
  const read = useRead('getProposedVersion', null, { params: { id } });
  const publish = useSend(
    ({ content = '', signatures }) =>
      askWithFactor('A version of the token registry is published.', 'publishRegistryProposal', null, () => ({
        params: { id },
        body: { content, signatures: signaturesOf(signatures) },
      })),
    done,
  );
  return (
    <Shown read={read} rows={3}>
      {(next) => (
        <>
          <Differences of={next} />
          {proposedBy === login.value?.userId ? (
            <p class="notice">You proposed it: another administrator publishes it.</p>
          ) : (
            <PublishForm next={next} sending={publish} />
          )}
        </>
      )}
    </Shown>
  );
}
