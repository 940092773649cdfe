/** How the chains are, and up to which height each was read without a hole. Console 5.4. */
import type { JSX } from 'preact';
import { NETWORK_NAMES } from '../../protocol/network-names.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { CHAINS, type Chain } from '../../protocol/slugs.ts';
import { hrefOf, place } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { useRead } from '../app/read.ts';
import { Facts, Head, Instant, Panel, Status, Text, Time } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { grouped, words } from '../ui/text.ts';

type Coverage = ReplyOf<'getCoverage'>;

const isChain = (text: string | undefined): text is Chain => CHAINS.some((chain) => chain === text);

export function Chains({ scope }: PageProps): JSX.Element {
  const read = useRead('listChains', scope, undefined, { live: true });
  const { chain } = place.value.query;
  return (
    <>
      <Head title="Chains" note="Which chains are watched, how their nodes are, and from when on a deposit counts." />
      <Panel>
        <Shown read={read} rows={10}>
          {({ content }) => (
            <Table
              caption="Chains"
              rows={content}
              keyOf={(row) => row.chain}
              columns={[
                {
                  name: 'Chain',
                  cell: (row) =>
                    row.enabled ? (
                      <a href={hrefOf(scope, '/chains', { chain: row.chain })}>{NETWORK_NAMES[row.chain]}</a>
                    ) : (
                      NETWORK_NAMES[row.chain]
                    ),
                },
                { name: 'Coin', cell: ({ symbol }) => <Text of={symbol} /> },
                {
                  name: 'Nodes',
                  cell: ({ enabled, status }) =>
                    enabled ? <Status of={status} /> : <span class="faint">Not run here</span>,
                },
                { name: 'Edge', cell: ({ readiness }) => <Status of={readiness} /> },
                { name: 'Final at', align: 'right', cell: ({ threshold }) => threshold ?? '–' },
                { name: 'Why', cell: ({ reason }) => <Text of={reason} />, wideOnly: true },
              ]}
            />
          )}
        </Shown>
      </Panel>
      {isChain(chain) && <Covered key={chain} scope={scope} chain={chain} />}
    </>
  );
}

function Covered({ scope, chain }: Pick<PageProps, 'scope'> & { chain: Chain }): JSX.Element {
  const read = useRead('getCoverage', scope, { params: { chain } }, { live: true });
  return (
    <Panel title={`Coverage of ${NETWORK_NAMES[chain]}`} note="Deposits up to this height are all known">
      <Shown read={read} rows={4}>
        {(coverage) => <Whole coverage={coverage} />}
      </Shown>
    </Panel>
  );
}

const heightOf = (height: number | null): string => (height === null ? 'Unknown' : grouped(String(height)));

function Whole({ coverage }: { coverage: Coverage }): JSX.Element {
  const { unresolved, endpoints } = coverage;
  return (
    <>
      <Facts
        rows={[
          ['Read without a hole to', heightOf(coverage.completeHeight)],
          ['Head', heightOf(coverage.headHeight)],
          ['Blocks behind', coverage.lag === null ? 'Unknown' : grouped(String(coverage.lag))],
          ['Head last rose', <Instant at={coverage.headAt} />],
          ['A node last spoke', <Instant at={coverage.heardAt} />],
        ]}
      />
      <h3>Heights that are not proven yet</h3>
      {unresolved.length === 0 ? (
        <p class="faint">None: no block is missing below the height above.</p>
      ) : (
        <Table
          caption="Heights that are not proven yet"
          rows={unresolved}
          keyOf={({ height }) => String(height)}
          columns={[
            { name: 'Height', align: 'right', cell: ({ height }) => grouped(String(height)) },
            { name: 'Why', cell: ({ reason }) => words(reason) },
            { name: 'Tries', align: 'right', cell: ({ tries }) => tries },
            { name: 'Since', cell: ({ since }) => <Time at={since} /> },
          ]}
        />
      )}
      <h3>Nodes</h3>
      {endpoints.length === 0 ? (
        <Empty title="None">A sandbox has simulated chains.</Empty>
      ) : (
        <Table
          caption="Nodes of the chain"
          rows={endpoints}
          keyOf={({ endpoint }) => endpoint}
          columns={[
            { name: 'Node', cell: ({ endpoint }) => <code>{endpoint}</code> },
            {
              name: 'State',
              cell: ({ state }) => (
                <Status
                  of={state}
                  tone={
                    state === 'up'
                      ? 'good'
                      : state === 'down' || state === 'wrong_network'
                        ? 'bad'
                        : state === 'unknown'
                          ? 'quiet'
                          : 'warn'
                  }
                />
              ),
            },
            { name: 'Why', cell: ({ reason }) => <Text of={reason} /> },
            { name: 'What to do', cell: ({ next }) => <Text of={next} />, wideOnly: true },
            { name: 'Since', cell: ({ since }) => <Time at={since} /> },
          ]}
        />
      )}
    </>
  );
}
