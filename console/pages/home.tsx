/** The overview: whether money can come in and go out, what waits for a person, what came in last. */
import '../ui/together.ts';
import type { JSX } from 'preact';
import type { ReplyOf } from '../../protocol/routes.ts';
import { BASE, hrefOf } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { useRead } from '../app/read.ts';
import { Amount, Code, Head, Panel, Status, Time } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { words } from '../ui/text.ts';
import { kindOf } from './transaction-words.ts';

type Sessions = ReplyOf<'listEdgeSessions'>;

export function Home({ scope }: PageProps): JSX.Element {
  const readiness = useRead('getEdgeReadiness', scope);
  const sessions = useRead('listEdgeSessions', scope, undefined, { live: true });
  const addresses = useRead('listAddresses', scope, { query: { size: '1' } });
  const webhooks = useRead('listWebhooks', scope, { query: { size: '1' } });
  const deposits = useRead('listTransactions', scope, { query: { size: '8' } }, { live: true });
  const past = {
    edge: hasEdge(sessions.data),
    address: (addresses.data?.totalElements ?? 0) > 0,
    webhook: (webhooks.data?.totalElements ?? 0) > 0,
    deposit: (deposits.data?.totalElements ?? 0) > 0,
  };
  // What is asked only once the rest is known: a page makes six requests at most. Console C15.
  const isUsed = past.edge && past.address && past.webhook && past.deposit;
  const isRead = sessions.data !== null && addresses.data !== null && webhooks.data !== null && deposits.data !== null;
  const me = useRead('getMe', null, undefined, { skip: !isRead || isUsed });
  const dead = useRead('listDeadLetters', scope, { query: { size: '1' } }, { skip: !past.webhook || !past.deposit });
  const facts = { factor: isUsed || me.data?.secondFactor === true, ...past };
  const isWhole = isUsed || (isRead && me.data === null);
  return (
    <>
      <Head title="Overview" note={scope.environment === 'sandbox' ? 'Your sandbox account.' : 'Your live account.'} />
      {isRead && !isWhole && <Checklist scope={scope} facts={facts} />}
      {(dead.data?.totalElements ?? 0) > 0 && (
        <p class="notice warn">
          {dead.data!.totalElements} {dead.data!.totalElements === 1 ? 'delivery has' : 'deliveries have'} used up every
          attempt. <a href={hrefOf(scope, '/dead-letters')}>See the dead letters</a>
        </p>
      )}
      <div class="columns">
        <Panel title="Edge" actions={<a href={hrefOf(scope, '/edge')}>Details</a>}>
          <Shown read={sessions} rows={2}>
            {(data) => <EdgeLine sessions={data} setup={hrefOf(scope, '/edge/setup')} />}
          </Shown>
        </Panel>
        <Panel title="Chains">
          <Shown read={readiness} rows={4}>
            {({ content }) => (
              <ul class="chips">
                {content.map(({ chain, state, reason }) => (
                  <li key={chain} title={reason ?? words(state)}>
                    <b>{chain}</b> <Status of={state} />
                  </li>
                ))}
              </ul>
            )}
          </Shown>
        </Panel>
      </div>
      <Panel title="Newest transactions" actions={<a href={hrefOf(scope, '/transactions')}>All transactions</a>}>
        <Shown read={deposits}>
          {({ content }) =>
            content.length === 0 ? (
              <Empty title="Nothing has moved yet">
                Deposits to your addresses and your withdrawals appear here as soon as they are seen.
              </Empty>
            ) : (
              <Table
                caption="Newest transactions"
                rows={content}
                keyOf={({ id }) => id}
                columns={[
                  { name: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
                  { name: 'Kind', cell: kindOf },
                  { name: 'Chain', cell: ({ chain }) => chain },
                  {
                    name: 'Amount',
                    align: 'right',
                    cell: ({ direction, amountFormatted, tokenSymbol }) => (
                      <Amount value={amountFormatted} symbol={tokenSymbol} sign={direction === 'in' ? '+' : '−'} />
                    ),
                  },
                  { name: 'Status', cell: ({ status }) => <Status of={status} /> },
                  { name: 'Id', cell: ({ id }) => <Code of={id} href={hrefOf(scope, `/transactions/${id}`)} /> },
                ]}
              />
            )
          }
        </Shown>
      </Panel>
    </>
  );
}

const hasEdge = (sessions: Sessions | null): boolean => (sessions?.content.length ?? 0) > 0;

function EdgeLine({ sessions, setup }: { sessions: Sessions; setup: string }): JSX.Element {
  const open = sessions.content.filter(({ endedAt }) => endedAt === null);
  const leader = open.find(({ role }) => role === 'leader');
  if (open.length === 0) {
    return (
      <Empty
        title="No edge is connected"
        action={
          <a class="button primary" href={setup}>
            Start an edge
          </a>
        }
      >
        Your edge holds the recovery phrase, checks and signs. Without it deposits are seen, webhooks wait and nothing
        can be sent.
      </Empty>
    );
  }
  return (
    <ul class="lines">
      {open.map(({ id, role, liveness, edgeVersion, lastHeartbeatAt }) => (
        <li key={id}>
          <Status of={liveness} /> <span>{words(role)}</span> <span class="faint">version {edgeVersion}</span>{' '}
          <span class="faint">
            heard <Time at={lastHeartbeatAt} />
          </span>
        </li>
      ))}
      {leader === undefined && (
        <li class="notice warn">No replica leads: nothing is signed or delivered at the moment.</li>
      )}
    </ul>
  );
}

/** From nothing to a delivered deposit. Read from what exists, so it goes on wherever it was left. Console C18. */
function Checklist({
  scope,
  facts,
}: Pick<PageProps, 'scope'> & {
  facts: { factor: boolean; edge: boolean; address: boolean; webhook: boolean; deposit: boolean };
}): JSX.Element {
  const steps = [
    ['Set up a second factor', facts.factor, null, 'Making keys and deciding rotations need one.'],
    ['Connect an edge', facts.edge, '/edge/setup', 'One command on a machine of yours.'],
    ['Issue an address', facts.address, '/addresses?new=1', 'Derived from your own phrase, watched from then on.'],
    ['Register a webhook', facts.webhook, '/webhooks?new=1', 'Where your application learns of deposits.'],
    [
      'Receive a deposit',
      facts.deposit,
      scope.environment === 'sandbox' ? '/sandbox' : '/addresses',
      scope.environment === 'sandbox'
        ? 'One click pays an address on the simulated chain.'
        : 'Pay one of your addresses.',
    ],
  ] as const;
  const next = steps.findIndex(([, done]) => !done);
  return (
    <Panel title="First steps" note={`${steps.filter(([, done]) => done).length} of ${steps.length} done`}>
      <ol class="steps">
        {steps.map(([title, done, path, note], at) => {
          const [page = '/', query = ''] = path?.split('?') ?? [];
          const href =
            path === null ? `${BASE}/profile` : hrefOf(scope, page, Object.fromEntries(new URLSearchParams(query)));
          return (
            <li key={title} class={done ? 'done' : at === next ? 'next' : undefined}>
              <span class="step-mark" aria-hidden="true">
                {done ? '✓' : at + 1}
              </span>
              <span>
                {done ? title : <a href={href}>{title}</a>}
                {done && <span class="visually-hidden"> (done)</span>}
                <span class="faint">{note}</span>
              </span>
            </li>
          );
        })}
      </ol>
    </Panel>
  );
}
