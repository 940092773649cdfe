/** What administrators see and do: nodes, actors, facts that were set aside, accounts. */
import '../ui/together.ts';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isRefusal } from '../../protocol/errors.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { BANDS, TIERS, type Band, type Tier } from '../../protocol/slugs.ts';
import { askWithFactor } from '../app/ask.ts';
import { readAgain, useRead } from '../app/read.ts';
import { answeredBy, Choice, Field, Form, useSend } from '../ui/form.tsx';
import { Code, Head, Panel, Status, Text, Time } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { words } from '../ui/text.ts';

import { TERMS, termsOf } from './admin-terms.ts';

export { FactorResets } from './admin-factors.tsx';
export { ImportConflicts, ScanLimits } from './admin-imports.tsx';
export { Statements } from './admin-statements.tsx';
export { SupportSessions } from './admin-support.tsx';
export { RegistryProposals } from './admin-registry.tsx';
export { TokenRequests } from './admin-tokens.tsx';

export function Nodes(): JSX.Element {
  const read = useRead('listNodes', null, undefined, { live: true });
  return (
    <>
      <Head title="Nodes" note="Cloud nodes, and what each owns." />
      <Panel>
        <Shown read={read}>
          {({ self, nodes }) => (
            <Table
              caption="Cloud nodes"
              rows={nodes}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: 'Node',
                  cell: ({ id }) => (
                    <>
                      {id} {id === self && <span class="faint">· answers</span>}
                    </>
                  ),
                },
                { name: 'State', cell: ({ alive }) => <Status of={alive ? 'live' : 'down'} /> },
                { name: 'Roles', cell: ({ roles }) => roles.join(', ') },
                { name: 'Shards', align: 'right', cell: ({ shards }) => shards },
                { name: 'Chains', cell: ({ chains }) => chains.join(', ') || '–' },
                { name: 'Heartbeat', align: 'right', cell: ({ lagMs }) => `${lagMs} ms` },
                { name: 'Version', cell: ({ version }) => <Text of={version} />, wideOnly: true },
                { name: 'Since', cell: ({ since }) => <Time at={since} /> },
              ]}
            />
          )}
        </Shown>
      </Panel>
    </>
  );
}

type Actor = ReplyOf<'listActors'>;

export function Actors(): JSX.Element {
  const read = useRead('listActors', null, { query: { depth: '3' } }, { live: true });
  return (
    <>
      <Head title="Actors" note="The supervised tree of the node that answers." />
      <Panel>
        <Shown read={read} rows={12}>
          {(root) => (
            <ul class="tree">
              <Branch actor={root} />
            </ul>
          )}
        </Shown>
      </Panel>
    </>
  );
}

function Branch({ actor, level = 0 }: { actor: Actor; level?: number }): JSX.Element {
  const { path, kind, id, phase, mailboxDepth, messages, restarts, lastFault, childCount, children } = actor;
  return (
    <li>
      <details open={level < 1}>
        <summary>
          <b>{kind}</b> <code>{id}</code> <span class="faint">{phase}</span>{' '}
          <span class="faint">
            {messages.toLocaleString('en')} messages, {mailboxDepth} waiting, {restarts} restarts
            {childCount > 0 && `, ${childCount} children`}
          </span>
          {lastFault !== null && <Status of="failed" label="Has failed" />}
        </summary>
        {lastFault !== null && <pre tabIndex={0}>{JSON.stringify(lastFault, null, 2)}</pre>}
        {actor.state !== null && <pre tabIndex={0}>{JSON.stringify(actor.state, null, 2)}</pre>}
        <Restart path={path} />
        {children.length > 0 && (
          <ul>
            {children.map((child) => (
              <Branch key={child.path} actor={child} level={level + 1} />
            ))}
          </ul>
        )}
      </details>
    </li>
  );
}

function Restart({ path }: { path: string }): JSX.Element {
  const sending = useSend(
    () =>
      askWithFactor('An actor forgets what it knows and reads it again.', 'restartActor', null, () => ({
        params: { path },
      })),
    () => readAgain('listActors'),
  );
  return <Form inline sending={sending} label="Restart" />;
}

export function Facts(): JSX.Element {
  const read = useRead('listFactsSetAside', null, { query: {} }, { live: true });
  const retry = useSend(
    () => askWithFactor('All facts that were set aside are tried again.', 'retryFacts', null, () => ({ body: {} })),
    () => readAgain('listFactsSetAside'),
  );
  return (
    <>
      <Head
        title="Facts set aside"
        note="What a chain reported and its account could not take. Each is tried again by itself."
        actions={<Form inline sending={retry} label="Try all again" />}
      />
      <Panel>
        <Shown read={read}>
          {({ facts }) =>
            facts.length === 0 ? (
              <Empty title="None">Every fact was taken by its account.</Empty>
            ) : (
              <Table
                caption="Facts that were set aside"
                rows={facts}
                keyOf={({ id }) => id}
                columns={[
                  { name: 'Account', cell: ({ accountId }) => <Code of={accountId} /> },
                  { name: 'Subject', cell: ({ subject }) => <Code of={subject} /> },
                  { name: 'Trouble', cell: ({ trouble }) => <Text of={trouble} /> },
                  { name: 'Tries', align: 'right', cell: ({ tries }) => tries },
                  { name: 'Behind it', align: 'right', cell: ({ behind }) => behind },
                  { name: 'Recorded', cell: ({ recordedAt }) => <Time at={recordedAt} /> },
                  { name: 'Next try', cell: ({ retryAt }) => <Time at={retryAt} /> },
                ]}
              />
            )
          }
        </Shown>
      </Panel>
    </>
  );
}

export function Accounts(): JSX.Element {
  const [said, setSaid] = useState<string | null>(null);
  const plan = useSend(
    async ({ accountId = '', tier = '', band = '', subscription = '', ...more }) => {
      const terms = termsOf(more);
      if (isRefusal(terms)) return answeredBy(terms);
      return askWithFactor('An account gets another plan.', 'setPlan', null, () => ({
        params: { accountId: accountId.trim() },
        body: {
          ...terms,
          ...(tier === '' ? {} : { tier: tier as Tier }),
          ...(band === '' ? {} : { band: band as Band }),
          ...(subscription === '' ? {} : { subscription: subscription as 'active' | 'lapsed' }),
        },
      }));
    },
    ({ accountId, tier, band }) => setSaid(`${accountId} is on ${tier}, ${band}.`),
  );
  const suspension = useSend(
    ({ accountId = '', suspended = 'yes', reason = '' }) =>
      askWithFactor('An account is suspended, or is no longer.', 'setSuspension', null, () => ({
        params: { accountId: accountId.trim() },
        body: { suspended: suspended === 'yes', ...(reason === '' ? {} : { reason }) },
      })),
    ({ accountId, suspended }) => setSaid(`${accountId} is ${suspended ? 'suspended' : 'not suspended'}.`),
  );
  const person = useSend(
    ({ userId = '', suspended = 'yes' }) =>
      askWithFactor('A person signs in no more, or does again.', 'setUserSuspension', null, () => ({
        params: { userId: userId.trim() },
        body: { suspended: suspended === 'yes' },
      })),
    ({ userId, suspended }) => setSaid(`${userId} is ${suspended ? 'suspended' : 'not suspended'}.`),
  );
  const account = (
    <Field
      label="Account"
      name="accountId"
      required
      placeholder="org_…_live"
      pattern="\s*org_[a-z2-7]{26}_(live|sandbox)\s*"
    />
  );
  const same = ['', 'As it is'] as const;
  return (
    <>
      <Head title="Accounts" note="An account is an organization in live or in sandbox." />
      <p class="said" role="status">
        {said}
      </p>
      <div class="columns">
        <Panel title="Plan">
          <Form sending={plan} label="Set the plan">
            {account}
            <Choice
              label="Tier"
              name="tier"
              options={[same, ...TIERS.map((one) => [one, words(one)] as const)]}
              value=""
            />
            <Choice
              label="Band"
              name="band"
              options={[same, ...BANDS.map((one) => [one, words(one)] as const)]}
              value=""
            />
            <Choice
              label="Subscription"
              name="subscription"
              options={[same, ['active', 'Active'], ['lapsed', 'Lapsed']]}
              value=""
            />
            <details>
              <summary>Terms of a custom band</summary>
              <div class="stack">
                {TERMS.map(([name, label]) => (
                  <Field key={name} label={label} name={name} inputMode="numeric" pattern="[0-9]+" />
                ))}
              </div>
            </details>
          </Form>
        </Panel>
        <Panel title="Person" note="Signs in no more, and all that they were signed in by ends">
          <Form sending={person} label="Set" danger>
            <Field label="Person" name="userId" required placeholder="usr_…" pattern="\\s*usr_[a-z2-7]{26}\\s*" />
            <Choice
              label="Suspended"
              name="suspended"
              options={[
                ['yes', 'Yes'],
                ['no', 'No'],
              ]}
              value="yes"
            />
          </Form>
        </Panel>
        <Panel title="Suspension" note="Writes are refused; deposits and webhooks go on">
          <Form sending={suspension} label="Set" danger>
            {account}
            <Choice
              label="Suspended"
              name="suspended"
              options={[
                ['yes', 'Yes'],
                ['no', 'No'],
              ]}
              value="yes"
            />
            <Field
              label="Reason"
              name="reason"
              maxLength={500}
              hint="Kept in the account's history; shown to nobody."
            />
          </Form>
        </Panel>
      </div>
    </>
  );
}
