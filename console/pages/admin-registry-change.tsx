/** What is proposed of a token on one chain, and of a route. Nothing that may not change can be said. Treasury K8, H1. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Answered } from '../../protocol/client.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { CHAINS, HAZARDS, type Chain } from '../../protocol/slugs.ts';
import { Choice, Field, Form, useSend } from '../ui/form.tsx';
import { plain, shortened, words } from '../ui/text.ts';

export type Change = Pick<ReplyOf<'getRegistryProposal'>, 'deployments' | 'routes'>;
type DeploymentChange = Change['deployments'][number];
type RouteChange = Change['routes'][number];
type Hazard = NonNullable<DeploymentChange['hazards']>[number];

const FLAGS = ['monitored', 'deprecated', 'bridgeable', 'sweepable'] as const;
const TEXTS = ['symbol', 'name', 'source'] as const;

/** Each change of a proposal in a line. */
export function changeWords({ deployments, routes }: Change): string[] {
  return [
    ...deployments.map(({ chain, contract, ...said }) => {
      const what = Object.entries(said).map(
        ([field, value]) =>
          `${words(field).toLowerCase()} ${Array.isArray(value) ? value.map(words).join(', ') || 'none' : String(value)}`,
      );
      return `${chain} ${shortened(plain(contract))}: ${what.join('; ')}`;
    }),
    ...routes.map(({ symbol, from, to, status }) => `${symbol} from ${from} to ${to}: ${status}`),
  ];
}

/** A change without what its line of this place says. */
export const without = ({ deployments, routes }: Change, line: number): Change => ({
  deployments: deployments.filter((_, at) => at !== line),
  routes: routes.filter((_, at) => at + deployments.length !== line),
});

/** What a form of the page gives, without anybody being asked. */
const given = async <T,>(outcome: T): Promise<Answered<T>> =>
  ({ status: 200, requestId: null, replayed: false, retryAfterSeconds: null, outcome }) as Answered<T>;

const chains = CHAINS.map((one) => [one, one] as const);
const AS_IT_IS = ['', 'As it is'] as const;

export function DeploymentForm({ add }: { add: (change: DeploymentChange) => void }): JSX.Element {
  const [replaces, setReplaces] = useState(false);
  const sending = useSend(
    (values) =>
      given<DeploymentChange>({
        chain: values['chain'] as Chain,
        contract: (values['contract'] ?? '').trim(),
        ...Object.fromEntries(FLAGS.flatMap((flag) => (values[flag] === '' ? [] : [[flag, values[flag] === 'yes']]))),
        ...Object.fromEntries(TEXTS.flatMap((text) => (values[text] === '' ? [] : [[text, values[text]!.trim()]]))),
        ...(replaces ? { hazards: HAZARDS.filter((one) => values[one] === 'on') as Hazard[] } : {}),
      }),
    add,
  );
  return (
    <details>
      <summary>A token on a chain</summary>
      <Form sending={sending} label="Add it">
        <div class="pair">
          <Choice label="Chain" name="chain" options={chains} />
          <Field label="Contract" name="contract" required maxLength={120} hint="Of a token that is listed." />
        </div>
        <div class="pair">
          {FLAGS.map((flag) => (
            <Choice
              key={flag}
              label={words(flag)}
              name={flag}
              value=""
              options={[AS_IT_IS, ['yes', 'Yes'], ['no', 'No']]}
            />
          ))}
        </div>
        <div class="pair">
          <Field label="Symbol" name="symbol" maxLength={20} hint="On all chains. Empty: as it is." />
          <Field label="Name" name="name" maxLength={100} hint="On all chains. Empty: as it is." />
        </div>
        <Field label="Source" name="source" maxLength={200} hint="Where it is known from. Empty: as it is." />
        <div class="checks">
          <label>
            <input type="checkbox" checked={replaces} onChange={() => setReplaces(!replaces)} /> Say its hazards anew
          </label>
        </div>
        {replaces && (
          <fieldset>
            <legend>What the contract can do to its holders: all of it</legend>
            <div class="checks">
              {HAZARDS.map((hazard) => (
                <label key={hazard}>
                  <input type="checkbox" name={hazard} /> {words(hazard)}
                </label>
              ))}
            </div>
          </fieldset>
        )}
      </Form>
    </details>
  );
}

export function RouteForm({ add }: { add: (change: RouteChange) => void }): JSX.Element {
  const sending = useSend(
    ({ symbol = '', from, to, status }) =>
      given<RouteChange>({
        symbol: symbol.trim(),
        from: from as Chain,
        to: to as Chain,
        status: status as RouteChange['status'],
      }),
    add,
  );
  return (
    <details open>
      <summary>A route of a bridge</summary>
      <Form sending={sending} label="Add the route">
        <div class="pair">
          <Field label="Token" name="symbol" value="USDC" required maxLength={20} />
          <Choice
            label="It becomes"
            name="status"
            value="open"
            options={[
              ['open', 'Open'],
              ['closed', 'Closed'],
            ]}
          />
          <Choice label="From" name="from" value="eth" options={chains} />
          <Choice label="To" name="to" value="base" options={chains} />
        </div>
      </Form>
    </details>
  );
}
