/** Policies of bridges: between which wallets, how much at once, how much on its way, and a transfer of one. H2–H4. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../protocol/routes.ts';
import { ask, may } from '../app/ask.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Choice, Field, Form, Tick, useSend } from '../ui/form.tsx';
import { Meter, Panel, Status } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { shortened, smallest } from '../ui/text.ts';
import { BridgedAmount, knownIn, type Known, type Tokens } from './bridge-words.tsx';

type Policy = ReplyOf<'getBridgePolicy'>;
type Way = ReplyOf<'listTokenRoutes'>['routes'][number];
type Shows = Pick<PageProps, 'scope'> & { tokens: Tokens };

export function BridgePolicies({ scope, routes, tokens }: Shows & { routes: readonly Way[] }): JSX.Element {
  const read = useRead('listBridgePolicies', scope, undefined, { live: true });
  const [isNew, setNew] = useState(false);
  const [sends, setSends] = useState<Policy | null>(null);
  const open = routes.filter(({ status }) => status === 'open');
  const create = may('editor') && open.length > 0 && (
    <button type="button" class="button small" onClick={() => setNew(true)}>
      New policy
    </button>
  );
  return (
    <Panel title="Policies" note="How much of a token may be on its way at once" actions={create}>
      <Shown read={read} rows={3}>
        {({ content }) =>
          content.length === 0 ? (
            <Empty title="No policy yet">
              {open.length === 0
                ? 'No route is open in this environment, so that no policy can be made.'
                : 'A policy names both treasury wallets, and its limits.'}
            </Empty>
          ) : (
            <Table
              caption="Bridge policies"
              rows={content}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Way', cell: ({ fromChain, toChain }) => `${fromChain} to ${toChain}` },
                {
                  name: 'At once, most',
                  align: 'right',
                  cell: ({ maxSingleTransfer, ...of }) => (
                    <BridgedAmount of={maxSingleTransfer} known={knownOf(tokens, of)} />
                  ),
                },
                { name: 'On its way', cell: (policy) => <InFlight of={policy} known={knownOf(tokens, policy)} /> },
                { name: 'State', cell: ({ enabled }) => <Status of={enabled ? 'enabled' : 'disabled'} /> },
                ...(may('editor')
                  ? [
                      {
                        name: 'Action',
                        cell: (policy: Policy) => (
                          <Actions scope={scope} policy={policy} send={() => setSends(policy)} />
                        ),
                      },
                    ]
                  : []),
              ]}
            />
          )
        }
      </Shown>
      {isNew && <NewPolicy scope={scope} ways={open} tokens={tokens} close={() => setNew(false)} />}
      {sends !== null && <Send scope={scope} policy={sends} tokens={tokens} close={() => setSends(null)} />}
    </Panel>
  );
}

const knownOf = (tokens: Tokens, { fromChain, token }: Pick<Policy, 'fromChain' | 'token'>): Known =>
  knownIn(tokens, fromChain, token);

/** Both limits, each with what of it is used. */
function InFlight({ of, known }: { of: Policy; known: Known }): JSX.Element {
  const { inFlightCount, maxInFlightCount, inFlightValue, maxInFlightValue } = of;
  return (
    <div>
      <Meter label="Transfers" used={inFlightCount} limit={maxInFlightCount} />
      <BridgedAmount of={inFlightValue} known={known} /> <span class="faint">of</span>{' '}
      <BridgedAmount of={maxInFlightValue} known={known} />
    </div>
  );
}

const changed = (): void => readAgain('listBridgePolicies', 'listBridgeTransfers');

function Actions({
  scope,
  policy,
  send,
}: Pick<PageProps, 'scope'> & { policy: Policy; send: () => void }): JSX.Element {
  const { id, enabled, inFlightCount } = policy;
  const toggle = useSend(
    (_, idempotencyKey) =>
      ask('replaceBridgePolicy', scope, {
        idempotencyKey,
        params: { policyId: id },
        body: { ...settingsOf(policy), enabled: !enabled },
      }),
    changed,
  );
  const remove = useSend(
    (_, idempotencyKey) => ask('deleteBridgePolicy', scope, { idempotencyKey, params: { policyId: id } }),
    changed,
  );
  return (
    <div class="actions">
      {enabled && (
        <button type="button" class="button primary" onClick={send}>
          Bridge
        </button>
      )}
      <Form inline sending={toggle} label={enabled ? 'Disable' : 'Enable'} danger={enabled} />
      {inFlightCount === 0 && <Form inline sending={remove} label="Delete" danger />}
    </div>
  );
}

const settingsOf = ({ fromChain, toChain, token, sourceWalletId, destinationWalletId, ...of }: Policy) => ({
  fromChain,
  toChain,
  token,
  sourceWalletId,
  destinationWalletId,
  maxSingleTransfer: of.maxSingleTransfer,
  maxInFlightValue: of.maxInFlightValue,
  maxInFlightCount: of.maxInFlightCount,
  version: of.version,
});

function Send({ scope, policy, tokens, close }: Shows & { policy: Policy; close: () => void }): JSX.Element {
  const known = knownOf(tokens, policy);
  const sending = useSend(
    ({ amount = '' }, idempotencyKey) =>
      ask('createBridgeTransfer', scope, {
        idempotencyKey,
        body: { policyId: policy.id, amount: smallest(amount, known.decimals) },
      }),
    () => {
      changed();
      close();
    },
  );
  return (
    <Dialog title={`Bridge from ${policy.fromChain} to ${policy.toChain}`} onClose={close}>
      <p>What is burnt is not called back: it arrives at the treasury wallet of {policy.toChain}.</p>
      <Form sending={sending} label="Bridge it" onCancel={close}>
        <AmountField label={`Amount (${known.symbol})`} name="amount" />
      </Form>
    </Dialog>
  );
}

const AmountField = ({ label, name }: { label: string; name: string }): JSX.Element => (
  <Field label={label} name={name} required inputMode="decimal" pattern="[0-9]+(\.[0-9]+)?" maxLength={40} />
);

function NewPolicy({ scope, ways, tokens, close }: Shows & { ways: readonly Way[]; close: () => void }): JSX.Element {
  const read = useRead('listTreasuryWallets', scope);
  const [at, setAt] = useState('0');
  const way = ways[Number(at)]!;
  const found = tokens.content
    .find(({ symbol }) => symbol === way.symbol)
    ?.deployments.find(({ chain }) => chain === way.from);
  const decimals = found?.decimals ?? 0;
  const create = useSend(
    (values, idempotencyKey) =>
      ask('createBridgePolicy', scope, {
        idempotencyKey,
        body: {
          fromChain: way.from,
          toChain: way.to,
          token: way.symbol,
          sourceWalletId: values['sourceWalletId'] ?? '',
          destinationWalletId: values['destinationWalletId'] ?? '',
          maxSingleTransfer: smallest(values['maxSingleTransfer'] ?? '', decimals),
          maxInFlightValue: smallest(values['maxInFlightValue'] ?? '', decimals),
          maxInFlightCount: Number(values['maxInFlightCount']),
          enabled: values['enabled'] === 'on',
        },
      }),
    () => {
      changed();
      close();
    },
  );
  return (
    <Dialog title="New bridge policy" onClose={close} wide>
      <Shown read={read} rows={3}>
        {({ content }) => {
          const walletsOf = (chain: string, only?: string) =>
            content
              .filter((one) => one.chain === chain && (only === undefined || one.source === only))
              .map(({ id, label, address }) => [id, label ?? shortened(address ?? id)] as const);
          const [sources, destinations] = [walletsOf(way.from, 'derived'), walletsOf(way.to)];
          const lacks = sources.length === 0 ? way.from : destinations.length === 0 ? way.to : null;
          return (
            <>
              <Choice
                label="Way"
                name="way"
                value={at}
                onChange={setAt}
                options={ways.map(({ symbol, from, to }, n) => [String(n), `${symbol} from ${from} to ${to}`])}
              />
              {lacks !== null ? (
                <p class="notice warn">
                  There is no treasury wallet of {lacks} yet: <code>POST /v1/treasury/wallets</code> makes one.
                </p>
              ) : (
                <Form sending={create} label="Create it" onCancel={close}>
                  <div class="pair">
                    <Choice label={`Wallet of ${way.from}`} name="sourceWalletId" options={sources} />
                    <Choice label={`Wallet of ${way.to}`} name="destinationWalletId" options={destinations} />
                  </div>
                  <div class="pair">
                    <AmountField label={`At once, most (${way.symbol})`} name="maxSingleTransfer" />
                    <AmountField label={`On its way, most (${way.symbol})`} name="maxInFlightValue" />
                  </div>
                  <Field
                    label="Transfers at once"
                    name="maxInFlightCount"
                    type="number"
                    min="1"
                    max="100"
                    value="3"
                    required
                  />
                  <Tick label="Enabled" name="enabled" checked />
                </Form>
              )}
            </>
          );
        }}
      </Shown>
    </Dialog>
  );
}
