/** Sessions, lease, outbox, readiness of each chain, gas tanks and key sources. */
import type { JSX } from 'preact';
import { hrefOf } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { useRead } from '../app/read.ts';
import { Checks } from './checks.tsx';
import { Code, Facts, Head, Panel, Status, Text, Time } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { words } from '../ui/text.ts';

export function EdgeStatus({ scope }: PageProps): JSX.Element {
  const sessions = useRead('listEdgeSessions', scope, undefined, { live: true });
  const lease = useRead('getEdgeLease', scope);
  const outbox = useRead('getEdgeOutbox', scope);
  const readiness = useRead('getEdgeReadiness', scope, undefined, { live: true });
  const tanks = useRead('listGasTanks', scope);
  const sources = useRead('listKeySources', scope);
  return (
    <>
      <Head title="Edge" note="It holds the recovery phrase, checks and signs, and posts your webhooks." />
      <Panel title="Sessions">
        <Shown read={sessions} rows={3}>
          {({ content }) =>
            content.length === 0 ? (
              <Empty
                title="No edge was ever connected"
                action={
                  <a class="button primary" href={hrefOf(scope, '/edge/setup')}>
                    Set one up
                  </a>
                }
              >
                It runs on a machine of yours; one command starts it.
              </Empty>
            ) : (
              <Table
                caption="Sessions of the edge"
                rows={content}
                keyOf={({ id }) => id}
                columns={[
                  {
                    name: 'Liveness',
                    cell: ({ liveness, endedAt }) =>
                      endedAt === null ? <Status of={liveness} /> : <Status of="ended" />,
                  },
                  { name: 'Role', cell: ({ role }) => <Status of={role} /> },
                  { name: 'Version', cell: ({ edgeVersion }) => edgeVersion },
                  { name: 'Epoch', align: 'right', cell: ({ leaseEpoch }) => leaseEpoch },
                  {
                    name: 'Outbox',
                    cell: ({ outboxDepth, outboxPoisoned }) =>
                      outboxPoisoned ? (
                        <Status of="failed" label="Held by a refused write" />
                      ) : (
                        `${outboxDepth} waiting`
                      ),
                  },
                  { name: 'Where', cell: ({ podHint }) => <Text of={podHint} />, wideOnly: true },
                  { name: 'Heard', cell: ({ lastHeartbeatAt }) => <Time at={lastHeartbeatAt} /> },
                ]}
              />
            )
          }
        </Shown>
      </Panel>
      <Checks scope={scope} lease={lease} />
      <Panel title="Readiness" note="Whether addresses can be issued and payments made on each chain">
        <Shown read={readiness} rows={10}>
          {({ content }) => (
            <Table
              caption="Readiness of each chain"
              rows={content}
              keyOf={({ chain }) => chain}
              columns={[
                { name: 'Chain', cell: ({ chain }) => chain },
                { name: 'State', cell: ({ state }) => <Status of={state} /> },
                {
                  name: 'Reason',
                  cell: ({ reason }) => (reason === null ? <span class="faint">–</span> : words(reason)),
                },
                {
                  name: 'Public key',
                  cell: ({ xpub }) => (xpub === null ? <span class="faint">–</span> : <code>{xpub}</code>),
                  wideOnly: true,
                },
                {
                  name: 'Pool',
                  align: 'right',
                  cell: ({ poolLevelPercent }) => (poolLevelPercent === null ? '–' : `${poolLevelPercent} %`),
                },
              ]}
            />
          )}
        </Shown>
      </Panel>
      <div class="columns">
        <Panel title="Lease" note="The right to be the one replica that signs">
          <Shown read={lease} rows={3}>
            {({ state, epoch, holder, expiresAt }) => (
              <Facts
                rows={[
                  ['State', <Status of={state} tone={state === 'held' ? 'good' : 'warn'} />],
                  ['Epoch', String(epoch)],
                  ['Holder', <Code of={holder} />],
                  ['Ends', <Time at={expiresAt} />],
                ]}
              />
            )}
          </Shown>
        </Panel>
        <Panel title="Outbox" note="What the leader has still to hand over">
          <Shown read={outbox} rows={3}>
            {({ outboxDepth, outboxPoisoned, outboxMode }) => (
              <Facts
                rows={[
                  ['Waiting', String(outboxDepth)],
                  [
                    'State',
                    outboxPoisoned ? (
                      <Status of="failed" label="Held by a refused write" />
                    ) : (
                      <Status of="ok" label="Flows" />
                    ),
                  ],
                  ['Mode', <Text of={outboxMode} />],
                ]}
              />
            )}
          </Shown>
        </Panel>
      </div>
      <Panel title="Gas tanks" note="Addresses that pay the network fees of sweeps">
        <Shown read={tanks} rows={4}>
          {({ content }) =>
            content.length === 0 ? (
              <Empty title="No gas tank yet">They are derived when your edge registers its keys.</Empty>
            ) : (
              <Table
                caption="Gas tanks"
                rows={content}
                keyOf={({ chain }) => chain}
                columns={[
                  { name: 'Chain', cell: ({ chain }) => chain },
                  { name: 'Address', cell: ({ address }) => <Code of={address} /> },
                  { name: 'Path', cell: ({ derivationPath }) => <code>{derivationPath}</code> },
                ]}
              />
            )
          }
        </Shown>
      </Panel>
      <Panel title="Key sources" note="Phrases and keys from elsewhere that the edge keeps beside its own">
        <Shown read={sources} rows={2}>
          {({ content }) =>
            content.length === 0 ? (
              <Empty title="None">Every address comes from your own phrase.</Empty>
            ) : (
              <Table
                caption="Key sources"
                rows={content}
                keyOf={({ id }) => id}
                columns={[
                  { name: 'Label', cell: ({ label }) => <Text of={label} /> },
                  { name: 'Kind', cell: ({ kind }) => words(kind) },
                  { name: 'Chains', cell: ({ chains }) => chains.join(', ') },
                  { name: 'Addresses', align: 'right', cell: ({ addresses }) => addresses },
                  { name: 'Status', cell: ({ status }) => <Status of={status} /> },
                ]}
              />
            )
          }
        </Shown>
      </Panel>
    </>
  );
}
