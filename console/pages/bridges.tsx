/** Bridges between the treasury's chains: which ways are open, how much may be on its way, and what is. Treasury H. */
import '../ui/together.ts';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../protocol/routes.ts';
import { ask, may } from '../app/ask.ts';
import { hrefOf, place } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Form, useSend } from '../ui/form.tsx';
import { Code, Facts, Head, Instant, Panel, Status, Text, Time } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Pager, Table } from '../ui/table.tsx';
import { words } from '../ui/text.ts';
import { queryOf } from './addresses.tsx';
import { BridgePolicies } from './bridge-policies.tsx';
import { BridgedAmount, knownIn, type Tokens } from './bridge-words.tsx';

type Transfer = ReplyOf<'getBridgeTransfer'>;
type Way = ReplyOf<'listTokenRoutes'>['routes'][number];
export function Bridges({ scope }: PageProps): JSX.Element {
  const tokens = useRead('listTokens', scope);
  const routes = useRead('listTokenRoutes', scope);
  return (
    <>
      <Head title="Bridges" note="Money of your treasury goes from one chain to another, within limits that you set." />
      <Shown read={routes} rows={4}>
        {(matrix) => (
          <>
            <Shown read={tokens} rows={4}>
              {(listed) => (
                <>
                  <BridgePolicies scope={scope} routes={matrix.routes} tokens={listed} />
                  <Transfers scope={scope} tokens={listed} />
                </>
              )}
            </Shown>
            <Routes matrix={matrix} />
          </>
        )}
      </Shown>
    </>
  );
}

const WHY: Readonly<Record<NonNullable<Way['reason']>, string>> = {
  not_bridgeable: 'not redeemable with the issuer there',
  deprecated: 'deprecated',
  no_issuer_bridge: 'the issuer has no bridge there',
  recipient_checks_missing: 'a recipient there cannot be checked yet',
  not_offered: 'not opened by the platform',
  not_in_sandbox: 'simulated ledgers have no bridge',
};

function Routes({ matrix: { registryVersion, routes } }: { matrix: ReplyOf<'listTokenRoutes'> }): JSX.Element {
  const symbols = [...new Set(routes.map(({ symbol }) => symbol))];
  const [symbol, setSymbol] = useState(symbols.includes('USDC') ? 'USDC' : (symbols[0] ?? ''));
  const ways = routes.filter((way) => way.symbol === symbol);
  const froms = [...new Set(ways.map(({ from }) => from))].map((from) => ({
    from,
    open: ways.filter((way) => way.from === from && way.status === 'open'),
    closed: ways.filter((way) => way.from === from && way.status === 'closed'),
  }));
  return (
    <Panel
      title="Routes"
      note={`Of version ${registryVersion} of the token registry`}
      actions={
        <label class="filter">
          <span>Token</span>
          <select value={symbol} onChange={(event) => setSymbol(event.currentTarget.value)}>
            {symbols.map((one) => (
              <option key={one} value={one} selected={one === symbol}>
                {one}
              </option>
            ))}
          </select>
        </label>
      }
    >
      <Table
        caption={`Routes of ${symbol}`}
        rows={froms}
        keyOf={({ from }) => from}
        columns={[
          { name: 'From', cell: ({ from }) => from },
          { name: 'Open to', cell: ({ open }) => <OpenTo ways={open} /> },
          { name: 'Closed', cell: ({ closed }) => <ClosedTo ways={closed} /> },
        ]}
      />
    </Panel>
  );
}

const timeOf = (seconds: number): string => (seconds < 60 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`);

const OpenTo = ({ ways }: { ways: readonly Way[] }): JSX.Element =>
  ways.length === 0 ? (
    <span class="faint">–</span>
  ) : (
    <ul class="tags">
      {ways.map(({ to, seconds }) => (
        <li key={to}>
          {to} <span class="faint">{seconds !== null && `about ${timeOf(seconds)}`}</span>
        </li>
      ))}
    </ul>
  );

const ClosedTo = ({ ways }: { ways: readonly Way[] }): JSX.Element => (
  <ul>
    {[...new Set(ways.map(({ reason }) => reason))].map((reason) => (
      <li key={reason}>
        {ways
          .filter((way) => way.reason === reason)
          .map(({ to }) => to)
          .join(', ')}
        <span class="faint">: {reason === null ? 'closed' : (WHY[reason] ?? words(reason))}</span>
      </li>
    ))}
  </ul>
);

type Shows = Pick<PageProps, 'scope'> & { tokens: Tokens };

function Transfers({ scope, tokens }: Shows): JSX.Element {
  const read = useRead('listBridgeTransfers', scope, { query: queryOf(['after']) as never }, { live: true });
  const [shown, setShown] = useState<string | null>(null);
  return (
    <Panel title="Transfers" note="Newest first">
      <Shown read={read}>
        {(page) => {
          const open = page.content.find(({ id }) => id === shown);
          return page.content.length === 0 ? (
            <Empty title="Nothing was bridged yet">A transfer begins at a policy above.</Empty>
          ) : (
            <>
              <Table
                live={place.value.query['after'] ?? ''}
                caption="Bridge transfers"
                rows={page.content}
                keyOf={({ id }) => id}
                columns={[
                  { name: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
                  {
                    name: 'Way',
                    cell: (transfer) => (
                      <button type="button" class="link" onClick={() => setShown(transfer.id)}>
                        {transfer.fromChain} to {transfer.toChain}
                      </button>
                    ),
                  },
                  {
                    name: 'Amount',
                    align: 'right',
                    cell: ({ amount, fromChain, token }) => (
                      <BridgedAmount of={amount} known={knownIn(tokens, fromChain, token)} />
                    ),
                  },
                  { name: 'State', cell: (transfer) => <TransferStatus of={transfer} /> },
                  { name: 'Why', cell: (transfer) => <Text of={whyOf(transfer)} /> },
                ]}
              />
              <Pager of={page} what="transfers" />
              {open !== undefined && (
                <TransferDetail scope={scope} transfer={open} tokens={tokens} close={() => setShown(null)} />
              )}
            </>
          );
        }}
      </Shown>
    </Panel>
  );
}

function TransferStatus({ of: { state, stalled } }: { of: Transfer }): JSX.Element {
  if (stalled !== null) return <Status of="stalled" tone="warn" />;
  const tone = state === 'COMPLETED' ? 'good' : state === 'FAILED' ? 'bad' : 'info';
  return <Status of={state} tone={tone} label={words(state.toLowerCase())} />;
}

const STALLS: Readonly<Record<string, string>> = {
  attestation: 'the attestation service has not answered for long',
  message_differs: 'what was attested is not what was burnt; nothing is minted',
  minted_nothing: 'the mint brought nothing',
};

/** In words why a transfer failed, or does not go on. */
function whyOf({ stalled, reason, blocked }: Transfer): string | null {
  if (stalled !== null) return STALLS[stalled.reason] ?? words(stalled.reason);
  if (blocked !== null) {
    const { reason: why, setting, cap, spent, required } = blocked;
    const of =
      setting === null ? '' : `, ${setting}: cap ${cap ?? '–'}, spent ${spent ?? '–'}, needed ${required ?? '–'}`;
    return `${words(why)}${of}`;
  }
  return reason === null ? null : words(reason);
}

const STEPS = ['APPROVING', 'BURNING', 'ATTESTING', 'MINTING', 'COMPLETED'] as const;
const STEP_WORDS = ['Approved', 'Burnt', 'Attested', 'Minted', 'Arrived'] as const;

function TransferDetail({
  scope,
  transfer,
  tokens,
  close,
}: Shows & { transfer: Transfer; close: () => void }): JSX.Element {
  const { id, fromChain, toChain, token, amount, received, maxFee, state, stalled, endedAt } = transfer;
  const known = knownIn(tokens, fromChain, token);
  const retry = useSend(
    (_, idempotencyKey) => ask('retryBridgeTransfer', scope, { idempotencyKey, params: { id } }),
    () => readAgain('listBridgeTransfers', 'listBridgePolicies'),
  );
  const now = STEPS.indexOf(state as (typeof STEPS)[number]);
  const why = whyOf(transfer);
  return (
    <Dialog title={`${fromChain} to ${toChain}`} onClose={close} wide>
      {state !== 'FAILED' && (
        <ol class="timeline" aria-label="Steps of the transfer">
          {STEPS.map((step, at) => (
            <li
              key={step}
              class={
                at < now || state === 'COMPLETED' ? 'done' : at === now ? (stalled === null ? 'now' : 'bad') : 'later'
              }
            >
              <b>{STEP_WORDS[at]}</b>
            </li>
          ))}
        </ol>
      )}
      <Facts
        rows={[
          ['State', <TransferStatus of={transfer} />],
          ...(why === null ? [] : [['Why', <Text of={why} />] as const]),
          ...(stalled === null ? [] : [['Stalled since', <Instant at={stalled.since} />] as const]),
          ['Amount', <BridgedAmount of={amount} known={known} />],
          ...(maxFee === null ? [] : [['Highest fee', <BridgedAmount of={maxFee} known={known} />] as const]),
          ...(received === null ? [] : [['Arrived', <BridgedAmount of={received} known={known} />] as const]),
          ['From', <Code of={transfer.source} whole />],
          ['To', <Code of={transfer.recipient} whole />],
          ...(
            [
              ['Approval', transfer.approveTransactionId],
              ['Burn', transfer.burnTransactionId],
              ['Mint', transfer.mintTransactionId],
            ] as const
          ).flatMap(([name, of]) =>
            of === null ? [] : [[name, <Code of={of} href={hrefOf(scope, `/transactions/${of}`)} />] as const],
          ),
          ['Begun', <Instant at={transfer.createdAt} />],
          ['Ended', <Instant at={endedAt} />],
        ]}
      />
      {stalled !== null && (
        <p class="notice warn">
          It is burnt, and is asked for until it arrives. Nothing is ever burnt again, and it counts as on its way.
        </p>
      )}
      {endedAt === null && may('editor') && <Form inline sending={retry} label="Look at it now" />}
    </Dialog>
  );
}
